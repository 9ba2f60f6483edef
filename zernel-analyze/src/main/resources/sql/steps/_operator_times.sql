-- Operators of PyTorch that training threads on CPUs ran by a trace, one by one, and the time between two.
--
-- Of operators inside one another the outermost counts. Backward passes, collectives and waits for them, optimizers and
-- waits for data are no time between operators. Such time is that of the innermost function of Python, where the trace
-- has stacks, or of the innermost range that the program has named (`record_function`).
--
-- needs: events, _rare_events, _step_spans, phase_words, files
CREATE TABLE _operator_times AS
WITH
    threads AS (
        SELECT DISTINCT spans.recording, spans.pid, spans.tid
        FROM _step_spans AS spans
        JOIN files ON files.recording = spans.recording
        JOIN phase_words AS words ON words.recording = spans.recording AND words.pid = spans.pid
        WHERE files.state = 'trace' AND NOT words.on_gpu
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
            kind = 'py_call' AS runs_python
        FROM events
        WHERE (kind IN ('torch_op', 'py_call')) IS TRUE
            AND dur_ns > 0
            AND recording IN (SELECT recording FROM threads)
        UNION ALL
        SELECT recording, pid, tid, kind::VARCHAR, 'the range ' || name, ts_ns, ts_ns + dur_ns, TRUE
        FROM _rare_events
        WHERE dur_ns > 0 AND is_own_range(kind, name, role)
        UNION ALL
        SELECT recording, pid, tid, kind::VARCHAR, name, ts_ns, ts_ns + dur_ns, FALSE
        FROM _rare_events
        WHERE dur_ns > 0
            AND (
                kind IN ('backward', 'nccl', 'dist_wait')
                OR kind = 'region' AND regexp_matches(name, '^(Optimizer\.|enumerate\()')
            )
    ),
    traced AS (
        SELECT calls.*
        FROM calls
        SEMI JOIN threads USING (recording, pid, tid)
    ),
    edges AS (
        SELECT recording, pid, tid, start_ns AS at_ns, 2 AS turn, -end_ns AS tie, kind, name, runs_python, end_ns
        FROM traced
        UNION ALL
        SELECT recording, pid, tid, end_ns, 0, -start_ns, kind, name, runs_python, end_ns
        FROM traced
        -- A step's begin and end are cuts.
        UNION ALL
        SELECT recording, pid, tid, unnest([from_ns, until_ns]), 1, 0, NULL, NULL, NULL, NULL
        FROM _step_spans
        SEMI JOIN threads USING (recording, pid, tid)
    ),
    levels AS (
        SELECT
            *,
            row_number() OVER thread_order AS position,
            lead(at_ns) OVER thread_order AS next_ns,
            sum(CASE WHEN runs_python THEN turn - 1 ELSE 0 END) OVER before AS functions,
            sum(CASE WHEN NOT runs_python THEN turn - 1 ELSE 0 END) OVER before AS operators
        FROM edges
        WINDOW
            thread_order AS (PARTITION BY recording, pid, tid ORDER BY at_ns, turn, tie),
            before AS (thread_order ROWS UNBOUNDED PRECEDING)
    ),
    -- After an end, the function that runs again is the last one that began at this depth.
    placed AS (
        SELECT
            recording,
            pid,
            tid,
            at_ns,
            CASE
                WHEN operators = 0 THEN next_ns - at_ns
                WHEN operators = 1 AND turn = 2 AND NOT runs_python THEN end_ns - at_ns
            END AS dur_ns,
            operators = 0 AS is_between,
            CASE WHEN operators > 0 THEN kind END AS kind,
            CASE WHEN operators > 0 THEN name END AS operator,
            CASE
                WHEN functions > 0 THEN last_value(CASE WHEN runs_python AND turn = 2 THEN name END IGNORE NULLS) OVER (
                    PARTITION BY recording, pid, tid, functions
                    ORDER BY position
                    ROWS UNBOUNDED PRECEDING
                )
            END AS function,
            last_value(CASE WHEN NOT runs_python THEN name END IGNORE NULLS) OVER (
                thread_order ROWS UNBOUNDED PRECEDING
            ) AS previous_operator,
            first_value(CASE WHEN NOT runs_python THEN name END IGNORE NULLS) OVER (
                thread_order ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) AS next_operator
        FROM levels
        WINDOW thread_order AS (PARTITION BY recording, pid, tid ORDER BY position)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    at_ns, -- [ns] when it began
    dur_ns, -- [ns] how long it took
    is_between, -- whether it is time between operators
    kind, -- kind of event, of an operator
    operator, -- its name
    function, -- innermost function of Python, or range; NULL in none, as where the trace has no stacks
    previous_operator, -- of time between operators, the one before
    next_operator -- the same, the one after it
FROM placed
WHERE dur_ns > 0
