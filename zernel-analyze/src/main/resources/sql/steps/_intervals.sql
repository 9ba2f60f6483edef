-- When threads of a trace without a GPU run operators of PyTorch, outside of all that is another part of a step.
--
-- Operators with little time between them are one stretch. They are the computation of such a job: ranges that its
-- program has named hold Python, too.
--
-- needs: events, _rare_events, files, gpu_traces
CREATE TABLE _operator_stretches AS
WITH
    constants AS (
        SELECT 20000 AS most_ns -- [ns] between two operators of a stretch
    ),
    traces AS (
        SELECT files.recording
        FROM files
        JOIN gpu_traces ON gpu_traces.recording = files.recording
        WHERE files.state = 'trace'
        GROUP BY files.recording
        HAVING sum(gpu_traces.activities + gpu_traces.calls) = 0
    ),
    parts AS (
        SELECT
            recording,
            pid,
            tid,
            ts_ns AS start_ns,
            max(ts_ns + dur_ns) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY ts_ns
                ROWS UNBOUNDED PRECEDING
            ) AS until_ns
        FROM _rare_events
        WHERE recording IN (SELECT recording FROM traces)
            AND dur_ns > 0
            AND kind IN ('region', 'backward', 'nccl', 'dist_wait')
            AND coalesce(role, '') <> 'step'
            AND NOT is_own_range(kind, name, role)
    ),
    operators AS (
        SELECT
            recording,
            pid,
            tid,
            ts_ns AS start_ns,
            ts_ns + dur_ns AS end_ns,
            max(ts_ns + dur_ns) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY ts_ns, dur_ns DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS until_ns
        FROM events
        WHERE kind = 'torch_op' AND dur_ns > 0 AND recording IN (SELECT recording FROM traces)
    ),
    outer_operators AS (
        SELECT
            operators.recording,
            operators.pid,
            operators.tid,
            operators.start_ns,
            operators.end_ns,
            lag(operators.end_ns) OVER (
                PARTITION BY operators.recording, operators.pid, operators.tid
                ORDER BY operators.start_ns
            ) AS before_ns
        FROM operators
        ASOF LEFT JOIN parts
            ON parts.recording = operators.recording
            AND parts.pid = operators.pid
            AND parts.tid = operators.tid
            AND parts.start_ns <= operators.start_ns
        WHERE coalesce(operators.until_ns <= operators.start_ns, TRUE)
            AND coalesce(parts.until_ns <= operators.start_ns, TRUE)
    ),
    numbered AS (
        SELECT
            outer_operators.*,
            sum(CASE WHEN before_ns >= start_ns - most_ns THEN 0 ELSE 1 END) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY start_ns
                ROWS UNBOUNDED PRECEDING
            ) AS stretch
        FROM outer_operators
        CROSS JOIN constants
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    min(start_ns) AS start_ns, -- [ns] when the first operator began
    max(end_ns) AS end_ns -- [ns] when the last one returned
FROM numbered
GROUP BY recording, pid, tid, stretch;

-- Calls on training threads that say what the thread is doing, each with the part of a step that it is.
--
-- `_step_markers` count as compute. Left out are calls inside `__next__` (that whole time is waiting for data) and
-- named regions around a whole step or loop, known by holding a `__next__` or an `Optimizer.step`. Calls without an
-- end are left out too. Syncs with the GPU count for what they wait for: a collective, or computation. So do calls
-- that allocate or release device memory, which wait for the GPU too, and copies and launches of graphs that do more
-- than enqueue: from pageable memory the CPU copies, and on a full queue they wait. Calls with a role are what that
-- says, also around others. Of a step only its begin and its end are cuts. Of a trace without a GPU, operators are
-- compute, and ranges that the program has named are not.
--
-- A DataLoader that feeds the optimizer is asked for a batch after most of its steps; with several optimizers, or
-- several steps for a batch, after some of them. One that is asked once before a loop, or only to evaluate, is asked
-- after few. An optimizer for each parameter makes many steps in a backward pass: the lower number of the two counts.
--
-- needs: _rare_events, _syncs, _step_markers, _thread_numbers, _role_calls, _crew_starts
-- needs: _worker_ends, _operator_stretches
CREATE TABLE _intervals AS
WITH
    constants AS (
        SELECT
            0.1 AS fed_share, -- of the steps of an optimizer, after which a loader that feeds it is asked, at least
            50000 AS long_ns -- [ns] a call that only enqueues takes less, and of those a step has many
    ),
    calls AS (
        SELECT
            recording,
            pid,
            tid,
            ts_ns AS start_ns,
            ts_ns + dur_ns AS end_ns,
            CASE WHEN name LIKE 'enumerate(DataLoader)#%' THEN name LIKE '%SingleProcess%' END AS in_process,
            CAST(CASE
                WHEN kind IN ('nccl', 'dist_wait') THEN 'collective'
                WHEN kind = 'backward' THEN 'backward'
                WHEN name LIKE 'enumerate(DataLoader)#%' THEN 'data_wait'
                WHEN name LIKE 'Optimizer.step#%' THEN 'optimizer_step'
                WHEN name LIKE 'Optimizer.zero_grad#%' THEN 'zero_grad'
                ELSE 'compute'
            END AS step_part) AS part,
            FALSE AS said
        FROM _rare_events
        WHERE kind IN ('region', 'backward', 'nccl', 'dist_wait', 'gpu_alloc', 'gpu_free') AND dur_ns > 0
            AND NOT coalesce(kind = 'region' AND role IS NOT NULL, FALSE)
            AND NOT (recording IN (SELECT recording FROM _operator_stretches) AND is_own_range(kind, name, role))
        UNION ALL
        SELECT recording, pid, tid, start_ns, end_ns, NULL, CAST('compute' AS step_part), FALSE
        FROM _operator_stretches
        UNION ALL
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            NULL AS in_process,
            CAST(CASE WHEN for_collective THEN 'collective' ELSE 'gpu_wait' END AS step_part) AS part,
            FALSE AS said
        FROM _syncs
        UNION ALL
        SELECT recording, pid, tid, ts_ns, ts_ns + dur_ns, NULL, CAST('compute' AS step_part), FALSE
        FROM _rare_events
        CROSS JOIN constants
        WHERE kind IN ('cuda_copy', 'cuda_graph', 'gpu_map')
            AND dur_ns >= constants.long_ns
            AND NOT coalesce(blocks, FALSE)
        UNION ALL
        SELECT recording, pid, tid, start_ns, end_ns, NULL AS in_process, CAST('compute' AS step_part) AS part, FALSE
        FROM _step_markers
        UNION ALL
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            CASE WHEN role = 'data_wait' THEN TRUE END AS in_process,
            CAST(CASE role
                WHEN 'sync' THEN 'gpu_wait'
                WHEN 'optimizer' THEN 'optimizer_step'
                ELSE role
            END AS step_part) AS part,
            TRUE AS said
        FROM _role_calls
        WHERE role NOT IN ('step', 'checkpoint') AND end_ns > start_ns
        UNION ALL
        SELECT recording, pid, tid, at_ns, at_ns + 1, NULL, CAST('unknown' AS step_part), TRUE
        FROM (
            SELECT recording, pid, tid, unnest([start_ns, end_ns - 1]) AS at_ns
            FROM _role_calls
            WHERE role = 'step'
        )
        WHERE at_ns IS NOT NULL
        UNION ALL
        SELECT recording, pid, tid, start_ns, end_ns, NULL, CAST('worker_start' AS step_part), FALSE
        FROM _crew_starts
        WHERE end_ns > start_ns
        UNION ALL
        SELECT recording, pid, tid, start_ns, end_ns, NULL, CAST('worker_start' AS step_part), FALSE
        FROM _worker_ends
    ),
    -- Before the first of steps that no region tells, a thread compiles, autotunes or loads.
    begins AS (
        SELECT recording, pid, tid, min(start_ns) AS start_ns
        FROM _step_markers
        GROUP BY ALL
    ),
    neighbours AS (
        SELECT
            threads.thread,
            calls.start_ns,
            calls.end_ns,
            calls.in_process,
            calls.part,
            calls.said,
            max(CASE WHEN calls.part = 'data_wait' THEN calls.end_ns END) OVER (
                PARTITION BY threads.thread
                ORDER BY calls.start_ns, calls.end_ns DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS data_wait_until_ns,
            lead(CASE WHEN calls.part IN ('data_wait', 'optimizer_step') THEN calls.start_ns END IGNORE NULLS) OVER (
                PARTITION BY threads.thread
                ORDER BY calls.start_ns, calls.end_ns DESC
            ) AS next_marker_ns
        FROM calls
        JOIN _thread_numbers AS threads
            ON threads.recording = calls.recording
            AND threads.pid = calls.pid
            AND threads.tid = calls.tid
        LEFT JOIN begins
            ON begins.recording = calls.recording
            AND begins.pid = calls.pid
            AND begins.tid = calls.tid
        WHERE begins.start_ns IS NULL OR calls.start_ns >= begins.start_ns
    ),
    outer_calls AS (
        SELECT thread, start_ns, end_ns, in_process, part
        FROM neighbours
        WHERE coalesce(data_wait_until_ns <= start_ns, TRUE)
            AND NOT (part = 'compute' AND NOT said AND coalesce(next_marker_ns < end_ns, FALSE))
    ),
    loads AS (
        SELECT
            thread,
            part,
            lead(CASE WHEN part <> 'backward' THEN part = 'data_wait' END IGNORE NULLS) OVER (
                PARTITION BY thread
                ORDER BY end_ns
            ) AS loads_next
        FROM outer_calls
        WHERE part IN ('data_wait', 'backward', 'optimizer_step')
    ),
    counts AS (
        SELECT
            thread,
            count(CASE WHEN part = 'data_wait' THEN 1 END) AS waits,
            count(CASE WHEN part = 'backward' THEN 1 END) AS backwards,
            count(CASE WHEN part = 'optimizer_step' THEN 1 END) AS steps,
            count(CASE WHEN part = 'optimizer_step' AND coalesce(loads_next, TRUE) THEN 1 END) AS loads
        FROM loads
        GROUP BY thread
    ),
    unfed AS (
        SELECT counts.thread
        FROM counts
        CROSS JOIN constants
        WHERE counts.steps > 0
            AND (
                counts.waits = 0
                OR counts.loads < constants.fed_share * least(counts.steps, nullif(counts.backwards, 0))
            )
    )
SELECT
    calls.thread, -- number of the training thread
    calls.start_ns, -- [ns] when the call began
    calls.end_ns, -- [ns] when it returned
    calls.in_process, -- of a data_wait, whether the process loads its data itself, NULL for all else
    calls.part, -- data_wait, worker_start, backward, compute, gpu_wait, collective, optimizer_step, zero_grad, or
    -- unknown: a cut
    unfed.thread IS NULL AS fed -- whether a DataLoader feeds the thread's optimizer; true where it has none
FROM outer_calls AS calls
LEFT JOIN unfed ON unfed.thread = calls.thread
