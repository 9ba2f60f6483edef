-- The different frames of all stacks, each read once.
--
-- `FUNCTION (FILE:LINE)` is Python, `SYMBOL (LIBRARY)` and `[LIBRARY]` are native code, whose file has no directory. A
-- file of the standard library is told by the folder of its Python, one of a package by site-packages, or by its name
-- where parts of a well-known package were seen beside it (`pip install --target`); what has no file was made by one of
-- both, but for what was given as text (`python -c`) or typed, which is the user's own.
--
-- needs: _stack_texts, known_calls
CREATE TABLE _frames AS
WITH
    texts AS (
        SELECT DISTINCT unnest(string_split(stack, ';')) AS frame
        FROM _stack_texts
    ),
    matched AS (
        SELECT
            frame,
            regexp_extract(frame, '^(.+?) \((.+):(\d+)\)$', ['function', 'file', 'line']) AS python,
            regexp_extract(frame, '^(.+?) \((.*/.*|.*\.py|<.*>)\)$', ['function', 'file']) AS lineless,
            regexp_extract(frame, '^(.*) \(([^()/]*)\)$', ['function', 'file']) AS native,
            regexp_extract(frame, '^\[(.*\.so.*|python\d.*|vdso)\]$', 1) AS library
        FROM texts
    ),
    parsed AS (
        SELECT
            frame,
            CASE
                WHEN python.line <> '' THEN python.function
                WHEN lineless.file <> '' THEN lineless.function
                WHEN native.file <> '' THEN native.function
                WHEN library = '' THEN frame
            END AS function,
            coalesce(nullif(python.file, ''), nullif(lineless.file, ''), nullif(native.file, ''), nullif(library, ''))
                AS file,
            CAST(nullif(python.line, '') AS BIGINT) AS line,
            python.line = '' AND lineless.file = '' AS native
        FROM matched
    ),
    -- Where packages were installed to a folder of the user's choice.
    folders AS (
        SELECT DISTINCT regexp_extract(
            file,
            '^(.*/)(?:torch/(?:nn/modules|utils/data|optim|autograd|_dynamo)|jax/_src|numpy/_?core|pandas/core'
                || '|sklearn/(?:utils|ensemble)|tensorflow/python|keras/src|transformers/(?:models|generation)'
                || '|lightning/(?:pytorch|fabric)|onnxruntime/capi)/',
            1
        ) AS folder
        FROM parsed
        WHERE NOT native
    ),
    -- Only of these names: what else is in such a folder may be the user's own.
    installed AS (
        SELECT
            files.file,
            any_value(regexp_extract(substr(files.file, len(folders.folder) + 1), '^\w+')) AS module
        FROM (SELECT DISTINCT file FROM parsed WHERE NOT native) AS files
        JOIN folders ON folders.folder <> '' AND starts_with(files.file, folders.folder)
        WHERE regexp_extract(substr(files.file, len(folders.folder) + 1), '^\w+') IN (
                'accelerate', 'aiohttp', 'anyio', 'einops', 'fastapi', 'flax', 'functorch', 'jax', 'jaxlib', 'joblib',
                'keras', 'lightgbm', 'lightning', 'numba', 'numpy', 'onnxruntime', 'optax', 'pandas', 'peft', 'PIL',
                'pyarrow', 'pytorch_lightning', 'requests', 'scipy', 'sklearn', 'starlette', 'tensorflow', 'torch',
                'torchaudio', 'torchvision', 'tqdm', 'transformers', 'triton', 'urllib3', 'uvicorn', 'vllm', 'xgboost'
            )
        GROUP BY files.file
    ),
    placed AS (
        SELECT
            parsed.*,
            CASE
                WHEN native THEN parsed.file
                WHEN regexp_matches(parsed.file, '/(site|dist)-packages/')
                    THEN regexp_extract(parsed.file, '/(?:site|dist)-packages/([^/]+?)(?:\.pyc?)?(?:/|$)', 1)
                WHEN parsed.file LIKE '<eval_with_key>%' OR parsed.file LIKE '%/torchinductor\_%' ESCAPE '\'
                    THEN 'torch'
                WHEN parsed.file LIKE '<frozen %' OR regexp_matches(parsed.file, '/python\d[\d.]*t?(\.zip)?/')
                    THEN 'python'
                WHEN parsed.file LIKE '<%' AND NOT regexp_matches(parsed.file, '^<(string|stdin|ipython-input.*)>$')
                    THEN 'generated'
                ELSE installed.module
            END AS module
        FROM parsed
        LEFT JOIN installed ON installed.file = parsed.file AND NOT parsed.native
    ),
    known AS (
        SELECT placed.frame, min(calls.number) AS number
        FROM placed
        JOIN known_calls AS calls ON calls.module = placed.module
        WHERE NOT placed.native
            AND calls.file IN ('', regexp_extract(placed.file, '[^/]*$'))
            AND regexp_matches(placed.function, calls.function)
        GROUP BY placed.frame
        UNION ALL BY NAME
        SELECT placed.frame, min(calls.number) AS number
        FROM placed
        JOIN known_calls AS calls ON calls.module = 'native'
        WHERE placed.native AND regexp_matches(placed.frame, calls.function)
        GROUP BY placed.frame
    )
SELECT
    CAST(row_number() OVER (ORDER BY placed.frame) AS INTEGER) AS number, -- number of the frame, from 1
    placed.frame, -- text of the frame
    function, -- function or symbol; NULL where only the library is known
    file, -- file of Python's code, or library
    line, -- line of the file; NULL in native code, and where it is not known
    module, -- library; package of Python, python for its standard library; NULL for the user's own code
    native, -- whether it is native code
    native AND regexp_matches(file, '^(lib)?python\d') IS TRUE
        AS interpreter, -- whether it is Python's interpreter
    -- What is called, in few words: without parameters, and methods of tensors as a program has them.
    CASE
        WHEN regexp_matches(function, '\bTHPVariable_[a-z]\w*') AND native
            THEN 'Tensor.' || regexp_extract(function, '\bTHPVariable_(\w+)', 1)
        WHEN native AND file LIKE 'libc.so%' THEN ltrim(function, '_')
        -- A loop over elements says by its template's arguments which one it is; a name that was cut is mangled.
        WHEN native AND regexp_matches(function, '\b(callback_fn|VectorizedLoop2d)<.*\bat::native::.*\b\w+_kernel\(')
            THEN 'at::native::' || regexp_extract(function, '::(\w+_kernel)\(', 1)
        WHEN native
            AND regexp_matches(function, '^_ZN.*(callback_fn|VectorizedLoop2d).*6native.*\d[a-z]\w*_kernel[A-Z]')
            THEN 'at::native::' || coalesce(
                list_filter(
                    regexp_extract_all(function, '\d([a-z][a-z_]*_kernel)[A-Z]', 1),
                    lambda kernel: kernel NOT LIKE 'cpu\_%' ESCAPE '\'
                )[1],
                'cpu_kernel'
            )
        WHEN native
            THEN regexp_replace(replace(function, '(anonymous namespace)::', ''), '(\w)\(.*\)( const)?$', '\1')
        ELSE replace(function, '.<locals>', '')
    END AS called, -- function in few words; NULL where only the library is known
    CAST(known.number AS INTEGER) AS known_call -- number of it in known_calls; NULL for others
FROM placed
LEFT JOIN known ON known.frame = placed.frame
