-- Stacks in which a model, a tokenizer or XGBoost's data is made or loaded, and those of other constructors.
--
-- needs: _stack_frames
CREATE TABLE _model_loads AS
WITH
    frames AS (
        SELECT
            id,
            native AND file LIKE 'libxgboost%' AND regexp_matches(
                    function,
                    '\b(WQSummary|W?QuantileSketch|SketchContainer|SketchOnDMatrix|(GHistIndex|Column)Matrix::)'
                )
                OR (file LIKE '%/xgboost/%' AND regexp_matches(function, 'DMatrix\.__init__$'))
                OR file LIKE '%/torch/nn/init.py'
                OR (file LIKE '%/torch/serialization.py' AND regexp_matches(function, '(^|\.)load$'))
                OR (file LIKE '%/torch/jit/_serialization.py' AND regexp_matches(function, '(^|\.)load$'))
                OR (file LIKE '%/torch/nn/modules/%'
                    AND regexp_matches(function, '(^|\.)(__init__|load_state_dict)$'))
                OR (file LIKE '%/safetensors/torch.py' AND regexp_matches(function, '(^|\.)load_(file|model)$'))
                OR (file LIKE '%/transformers/%' AND regexp_matches(function, '(^|\.)from_pretrained$'))
                OR (file LIKE '%/transformers/tokenization%' AND regexp_matches(function, '(^|\.)__init__$'))
                OR (file LIKE '%/sentence\_transformers/%' ESCAPE '\' AND regexp_matches(function, '(^|\.)__init__$'))
                OR (file LIKE '%/spacy/%' AND regexp_matches(function, '^load$|^load_model\w*$'))
                OR (file LIKE '%/onnxruntime/capi/%' AND regexp_matches(function, '(^|\.)_create_inference_session$'))
                OR (file LIKE '%/joblib/numpy_pickle.py' AND regexp_matches(function, '(^|\.)load$'))
                OR (file LIKE '%/keras/%' AND regexp_matches(function, '(^|\.)load_model$'))
                AS loads,
            NOT native AND regexp_matches(function, '(^|\.)__init__$') AS constructs
        FROM _stack_frames
    )
SELECT
    id, -- number of the stack
    bool_or(loads) IS TRUE AS loads -- whether a library builds or loads one there; FALSE in another constructor
FROM frames
GROUP BY id
HAVING bool_or(loads OR constructs);

-- A model, a tokenizer or data is made again and again. A program goes on with one that it makes anew each time.
--
-- Of processes without steps: samples of the threads that compute most, where libraries build or load models and
-- tokenizers, or XGBoost sorts data into bins, as it does in `update` for each new DMatrix; in turns with other work,
-- and in most fifths of the time on a CPU. What is made once, however long that takes, has no such turns.
-- Does not apply to trainings, to what the constructors of a program's own classes do, to models that plain pickle
-- loads, nor to a program that goes through many models, as to compare them.
--
-- needs: _working_samples, _model_loads
-- severity: high from 25 % of the time of these threads on a CPU, medium from 10 %
-- hint: io_open tells whether the same file is opened again
-- lines: the loads WHERE thread = 'process' AND id IN (SELECT id FROM _model_loads WHERE loads)
WITH
    thresholds AS (
        SELECT
            10 AS min_turns, -- from other work to a load
            0.1 AS min_share, -- of the time on a CPU, in all and in each such fifth
            4 AS min_fifths -- of its time on a CPU
    ),
    samples AS (
        SELECT
            samples.recording,
            samples.pid,
            samples.ns,
            loads.id IS NOT NULL AS loading,
            loads.id IS NOT NULL AND NOT lag(loads.id IS NOT NULL, 1, TRUE) OVER (
                PARTITION BY samples.recording, samples.pid, samples.tid ORDER BY samples.start_ns
            ) AS is_turn,
            ntile(5) OVER (PARTITION BY samples.recording, samples.pid ORDER BY samples.start_ns) AS fifth
        FROM _working_samples AS samples
        LEFT JOIN _model_loads AS loads ON loads.id = samples.id
        WHERE loads.loads IS NOT FALSE
    ),
    fifths AS (
        SELECT
            recording,
            pid,
            fifth,
            count_if(is_turn) AS turns,
            sum(ns) AS cpu_ns,
            coalesce(sum(ns) FILTER (loading), 0) AS load_ns
        FROM samples
        GROUP BY recording, pid, fifth
    ),
    sums AS (
        SELECT
            fifths.recording,
            fifths.pid,
            sum(turns) AS turns,
            sum(cpu_ns) AS cpu_ns,
            sum(load_ns) AS load_ns,
            count_if(load_ns >= min_share * cpu_ns) AS fifths,
            sum(load_ns) / sum(cpu_ns) AS share
        FROM fifths
        CROSS JOIN thresholds
        GROUP BY fifths.recording, fifths.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    round(100 * share, 1) AS value, -- percent of its time on a CPU
    '% of its time on a CPU in loads' AS unit, -- unit of value
    severity_of(share) AS severity, -- high or medium
    format('{:.2f} s of {:.2f} s on a CPU where models, tokenizers or data are made or loaded, in {} of 5 fifths '
        || 'of that time; samples went from other work to that {} times',
        load_ns / 1e9, cpu_ns / 1e9, fifths, turns) AS evidence, -- what it rests on
    'make and load it once, before the first request or round, and keep it; of several, keep those that were loaded '
        || '(functools.cache)' AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM sums
CROSS JOIN thresholds
WHERE turns >= min_turns AND fifths >= min_fifths AND share >= min_share
