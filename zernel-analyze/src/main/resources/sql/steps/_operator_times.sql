-- Operators of PyTorch that training threads on CPUs ran by a trace, one by one, and the time between two.
--
-- Of operators inside one another the outermost counts. Backward passes, collectives and waits for them, optimizers and
-- waits for data are no time between operators. Where the trace has stacks, such time is that of the innermost function
-- of Python that is neither PyTorch's nor of its own library, or of the innermost range that the program has named
-- (`record_function`). Where Python runs inside an operator or a backward pass, as a hook, that is a row beside theirs.
-- Without stacks that is told by the names of operators (`runs_python`), and of hooks before a function of autograd by
-- the time until it is called.
--
-- needs: events, _rare_events, _step_spans, phase_words, files
CREATE TABLE _operator_times AS
WITH
    constants AS (
        SELECT
            50000 AS hook_ns, -- [ns] hooks are told from, without stacks
            'autograd::engine::evaluate_function: ' AS caller -- of a function of autograd, and of its hooks
    ),
    threads AS (
        SELECT DISTINCT spans.recording, spans.pid, spans.tid
        FROM _step_spans AS spans
        JOIN files ON files.recording = spans.recording
        JOIN phase_words AS words ON words.recording = spans.recording AND words.pid = spans.pid
        WHERE files.state = 'trace' AND NOT words.on_gpu
    ),
    stacked AS (
        SELECT DISTINCT recording
        FROM events
        WHERE kind = 'py_call' AND recording IN (SELECT recording FROM threads)
    ),
    operator_names AS (
        SELECT DISTINCT recording, name
        FROM events
        WHERE kind = 'torch_op' AND recording IN (SELECT recording FROM threads)
    ),
    -- A function's forward pass is called as its backward pass, but for that word. PyTorch numbers its own functions,
    -- but did not until 1.10.
    python_operators AS (
        SELECT DISTINCT recording, unnest([name, regexp_replace(replace(name, caller, ''), 'Backward$', '')]) AS name
        FROM (
            SELECT *, bool_or(regexp_matches(name, 'Backward\d+$')) OVER (PARTITION BY recording) AS numbered
            FROM operator_names
        )
        CROSS JOIN constants
        WHERE runs_python(name)
            AND (numbered OR ends_with(name, 'AccumulateGrad'))
            AND recording NOT IN (SELECT recording FROM stacked)
    ),
    calls AS (
        SELECT
            recording,
            pid,
            tid,
            kind,
            name,
            ts_ns AS start_ns,
            ts_ns + dur_ns AS end_ns,
            CASE
                WHEN kind <> 'py_call' THEN 'operator'
                WHEN is_own_function(name) THEN 'own'
                WHEN starts_with(name, '<built-in ') THEN 'built in'
                WHEN is_checkpoint(name) THEN 'checkpoint'
                WHEN is_compiler(name) THEN 'compiler'
                ELSE 'library'
            END AS sort
        FROM events
        WHERE (kind IN ('torch_op', 'py_call')) IS TRUE
            AND dur_ns > 0
            AND recording IN (SELECT recording FROM threads)
        UNION ALL
        SELECT recording, pid, tid, kind::VARCHAR, 'the range ' || name, ts_ns, ts_ns + dur_ns, 'own'
        FROM _rare_events
        WHERE dur_ns > 0 AND is_own_range(kind, name, role)
        UNION ALL
        SELECT recording, pid, tid, kind::VARCHAR, name, ts_ns, ts_ns + dur_ns, 'operator'
        FROM _rare_events
        WHERE dur_ns > 0
            AND (
                kind IN ('backward', 'nccl', 'dist_wait')
                OR kind = 'region' AND regexp_matches(name, '^(Optimizer\.|enumerate\()')
            )
    ),
    traced AS (
        SELECT
            calls.*,
            python.name IS NOT NULL AS is_python,
            -- Of some that are as long a backward pass is the outermost, then what calls its functions.
            CASE
                WHEN calls.kind <> 'torch_op' THEN 0
                WHEN starts_with(calls.name, constants.caller) THEN 1
                ELSE 2
            END AS nesting,
            nesting = 1 AND stacked.recording IS NULL AS may_hook
        FROM calls
        CROSS JOIN constants
        SEMI JOIN threads USING (recording, pid, tid)
        LEFT JOIN stacked ON stacked.recording = calls.recording
        LEFT JOIN python_operators AS python
            ON calls.kind = 'torch_op' AND python.recording = calls.recording AND python.name = calls.name
    ),
    edges AS (
        SELECT
            recording,
            pid,
            tid,
            unnest([start_ns, end_ns]) AS at_ns,
            unnest([2, 0]) AS turn,
            unnest([[-end_ns, nesting], [-start_ns, -nesting]]) AS tie,
            kind,
            name,
            sort,
            is_python,
            may_hook,
            end_ns
        FROM traced
        -- A step's begin and end are cuts.
        UNION ALL
        SELECT recording, pid, tid, unnest([from_ns, until_ns]), 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL
        FROM _step_spans
        SEMI JOIN threads USING (recording, pid, tid)
    ),
    levels AS (
        SELECT
            *,
            row_number() OVER thread_order AS position,
            lead(at_ns) OVER thread_order AS next_ns,
            sum(turn - 1) OVER before AS calls,
            sum(CASE WHEN sort = 'own' THEN turn - 1 ELSE 0 END) OVER before AS own_calls,
            sum(CASE WHEN sort IN ('own', 'library', 'checkpoint', 'compiler') THEN turn - 1 ELSE 0 END) OVER before
                AS functions,
            sum(CASE WHEN sort = 'checkpoint' THEN turn - 1 ELSE 0 END) OVER before AS checkpoints,
            sum(CASE WHEN sort = 'compiler' OR is_compiling(name) THEN turn - 1 ELSE 0 END) OVER before AS compilers,
            sum(CASE WHEN sort = 'operator' THEN turn - 1 ELSE 0 END) OVER before AS operators,
            sum(CASE WHEN is_python THEN turn - 1 ELSE 0 END) OVER before AS python_operators
        FROM edges
        WINDOW
            thread_order AS (PARTITION BY recording, pid, tid ORDER BY at_ns, turn, tie),
            before AS (thread_order ROWS UNBOUNDED PRECEDING)
    ),
    -- What an outermost operator is called in.
    called AS (
        SELECT
            *,
            last_value(CASE WHEN is_outermost THEN own_calls END IGNORE NULLS) OVER before AS own_outside,
            last_value(CASE WHEN is_outermost THEN functions END IGNORE NULLS) OVER before AS functions_outside,
            last_value(CASE WHEN is_outermost THEN calls - 1 END IGNORE NULLS) OVER before AS python_outside,
            last_value(CASE WHEN is_outermost THEN kind END IGNORE NULLS) OVER before AS outermost_kind
        FROM (
            SELECT *, coalesce(sort = 'operator' AND turn = 2 AND operators = 1, FALSE) AS is_outermost
            FROM levels
        )
        WINDOW before AS (PARTITION BY recording, pid, tid ORDER BY position ROWS UNBOUNDED PRECEDING)
    ),
    -- After an end, what runs again is the last that began at this depth.
    running AS (
        SELECT
            *,
            last_value(CASE WHEN turn = 2 THEN [if(is_python, 'python', sort), name] END IGNORE NULLS) OVER (
                PARTITION BY recording, pid, tid, calls
                ORDER BY position
                ROWS UNBOUNDED PRECEDING
            ) AS innermost,
            last_value(CASE WHEN turn = 2 AND sort = 'own' THEN name END IGNORE NULLS) OVER (
                PARTITION BY recording, pid, tid, own_calls
                ORDER BY position
                ROWS UNBOUNDED PRECEDING
            ) AS own_function,
            last_value(CASE
                WHEN turn = 2 AND sort NOT IN ('operator', 'built in') AND functions = functions_outside + 1 THEN name
            END IGNORE NULLS) OVER before AS entered_function,
            last_value(CASE WHEN sort = 'operator' THEN name END IGNORE NULLS) OVER before AS previous_operator,
            first_value(CASE WHEN sort = 'operator' THEN name END IGNORE NULLS) OVER (
                thread_order ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) AS next_operator
        FROM called
        WINDOW
            thread_order AS (PARTITION BY recording, pid, tid ORDER BY position),
            before AS (thread_order ROWS UNBOUNDED PRECEDING)
    ),
    placed AS (
        SELECT
            *,
            operators = 0 AS is_between,
            CASE
                WHEN operators > 0
                    AND outermost_kind IN ('torch_op', 'backward')
                    AND calls - operators > python_outside
                    THEN CASE
                        WHEN checkpoints > 0 THEN 'checkpoint'
                        WHEN compilers > 0 THEN 'compiler'
                        WHEN innermost[1] IN ('operator', 'built in') THEN innermost[1]
                        ELSE 'python'
                    END
                WHEN python_operators > 0
                    THEN CASE
                        WHEN innermost[1] <> 'python' THEN 'operator'
                        WHEN contains(innermost[2], '::') AND next_ns - at_ns < hook_ns THEN 'operator'
                        ELSE 'python'
                    END
                WHEN turn = 2 AND may_hook AND next_ns - at_ns >= hook_ns THEN 'python'
            END AS inside,
            CASE
                WHEN inside IS NOT NULL AND functions > functions_outside THEN entered_function
                WHEN inside = 'python' AND functions = 0 THEN replace(innermost[2], caller, '')
            END AS entered
        FROM running
        CROSS JOIN constants
    ),
    parts AS (
        SELECT * REPLACE (CASE WHEN NOT is_outermost THEN inside END AS inside)
        FROM placed
        UNION ALL
        -- An operator that runs Python begins with that.
        SELECT * REPLACE (FALSE AS is_outermost)
        FROM placed
        WHERE is_outermost AND inside IS NOT NULL
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    at_ns, -- [ns] when it began
    CASE WHEN is_outermost THEN end_ns ELSE next_ns END - at_ns AS dur_ns, -- [ns] how long it took
    is_between, -- whether it is time between operators
    inside, -- where an operator or a backward pass runs Python: python, built in, operator, compiler or checkpoint
    CASE WHEN is_outermost THEN kind END AS kind, -- kind of event, of an operator
    CASE WHEN is_outermost THEN name END AS operator, -- its name
    CASE
        WHEN inside IS NOT NULL AND own_calls = own_outside THEN entered
        WHEN own_calls > 0 THEN own_function
    END AS function, -- innermost function of the program, or range; inside an operator that, or what is entered there
    CASE WHEN innermost[1] = 'built in' AND calls > 0 THEN innermost[2] END
        AS built_in, -- the built-in function of Python that runs; NULL where none is
    previous_operator, -- of time between operators, the one before
    next_operator -- the same, the one after it
FROM parts
WHERE (is_outermost OR is_between OR inside IS NOT NULL) AND dur_ns > 0
