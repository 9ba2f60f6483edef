-- When training threads of ranks were asleep, and waited neither for data, nor for the GPU, nor for other ranks.
--
-- In a backward pass only where no other thread runs it. Time at the end in which the thread was ready again, without
-- a CPU, does not count.
--
-- needs: _switches, _segments, _launching_threads, _ranked
CREATE TABLE _rank_sleeps AS
WITH
    away AS (
        SELECT
            switches.recording,
            switches.pid,
            switches.tid,
            switches.ts_ns,
            switches.dur_ns - coalesce(switches.runq_ns, 0) AS dur_ns
        FROM _switches AS switches
        SEMI JOIN _ranked AS ranks ON ranks.recording = switches.recording AND ranks.pid = switches.pid
        WHERE switches.dur_ns > coalesce(switches.runq_ns, 0) AND NOT switches.preempted
    )
SELECT
    away.recording, -- recording
    away.pid, -- process
    away.tid, -- training thread
    away.ts_ns, -- [ns] when it left its CPU
    away.dur_ns, -- [ns] asleep
    segments.part = 'unknown' AS between_calls -- whether no call was open
FROM away
ASOF JOIN _segments AS segments
    ON segments.recording = away.recording
    AND segments.pid = away.pid
    AND segments.tid = away.tid
    AND segments.start_ns <= away.ts_ns
WHERE away.ts_ns < segments.end_ns
    AND segments.part NOT IN ('data_wait', 'gpu_wait', 'collective')
    AND (
        segments.part <> 'backward'
        OR (away.recording, away.pid) NOT IN (SELECT recording, pid FROM _launching_threads)
    );

-- What can make a rank late, per step: the time of each part.
--
-- Time without a CPU and in allocations lies within the other parts; that of threads that launch kernels for the
-- training thread, such as backward's, counts with it. Steps of processes without collectives are no rows.
--
-- needs: _switches, _checkpoint_opens, _launching_threads, steps, step_work, _step_spans, _rank_sleeps, _ranked
-- digest: kept
CREATE TABLE _step_costs AS
WITH
    spans AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            steps.step,
            work.alloc_ns,
            work.sync_ns - work.collective_sync_ns AS gpu_wait_ns,
            steps.gpu_compute_ns + steps.optimizer_step_ns AS compute_ns,
            steps.unknown_ns
        FROM steps
        JOIN _ranked AS ranks ON ranks.recording = steps.recording AND ranks.pid = steps.pid
        JOIN step_work AS work
            ON work.recording = steps.recording
            AND work.pid = steps.pid
            AND work.tid = steps.tid
            AND work.step = steps.step
    ),
    threads AS (
        SELECT recording, pid, tid, tid AS training_tid
        FROM spans
        UNION
        SELECT launching.recording, launching.pid, launching.tid, spans.tid
        FROM _launching_threads AS launching
        JOIN spans ON spans.recording = launching.recording AND spans.pid = launching.pid
    ),
    moments AS (
        SELECT
            switches.recording,
            switches.pid,
            threads.training_tid,
            ts_ns AS at_ns,
            runq_ns,
            0 AS checkpoints,
            0 AS asleep_ns,
            FALSE AS between_calls
        FROM _switches AS switches
        JOIN threads
            ON threads.recording = switches.recording
            AND threads.pid = switches.pid
            AND threads.tid = switches.tid
        WHERE runq_ns > 0
        UNION ALL
        SELECT recording, pid, tid, ts_ns, 0, 1, 0, FALSE
        FROM _checkpoint_opens
        UNION ALL
        SELECT recording, pid, tid, ts_ns, 0, 0, dur_ns, between_calls
        FROM _rank_sleeps
    ),
    happened AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            sum(runq_ns) AS runq_ns,
            sum(checkpoints) AS checkpoints,
            sum(asleep_ns) AS asleep_ns,
            sum(CASE WHEN between_calls THEN asleep_ns ELSE 0 END) AS asleep_between_ns
        FROM in_spans(moments, _step_spans)
        WHERE training_tid = tid
        GROUP BY ALL
    )
SELECT
    spans.recording, -- recording
    spans.pid, -- process
    spans.tid, -- training thread
    spans.step, -- number of the step, from 1
    CAST(coalesce(happened.runq_ns, 0) AS BIGINT) AS runq_ns, -- [ns] ready without a CPU
    spans.alloc_ns, -- [ns] in calls that allocate and free device memory
    spans.gpu_wait_ns, -- [ns] in waits for the rank's own GPU
    CAST(greatest(
        spans.compute_ns - spans.gpu_wait_ns - coalesce(happened.asleep_ns - happened.asleep_between_ns, 0),
        0
    ) AS BIGINT) AS compute_ns, -- [ns] in forward, backward and optimizer, on the CPU
    CAST(coalesce(happened.asleep_ns, 0) AS BIGINT) AS asleep_ns, -- [ns] asleep, for nothing of the above
    CAST(greatest(spans.unknown_ns - coalesce(happened.asleep_between_ns, 0), 0) AS BIGINT)
        AS unknown_ns, -- [ns] outside every recorded call, not asleep
    CAST(coalesce(happened.checkpoints, 0) AS BIGINT) AS checkpoints -- checkpoint files opened in it
FROM spans
LEFT JOIN happened
    ON happened.recording = spans.recording
    AND happened.pid = spans.pid
    AND happened.tid = spans.tid
    AND happened.step = spans.step
