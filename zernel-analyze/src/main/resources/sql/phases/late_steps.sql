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
    AND happened.step = spans.step;

-- Each step's worst collective on a communicator: which rank came last, how late, and why.
--
-- The step is that of the rank that came last. The cause is what this rank spent more time on in the step than the
-- other ranks of its job usually do, by the middle one of their median steps; it is NULL where nothing explains a third
-- of the delay, or of the step where that is shorter: a delay adds up over steps where ranks do not wait for each other
-- on their CPUs. Only collectives count that all recorded ranks called.
--
-- needs: collective_arrivals, _middle_arrivals, _step_costs, _rank_jobs, steps
CREATE TABLE late_steps AS
WITH
    parts AS (
        SELECT
            costs.*,
            steps.start_ns,
            steps.end_ns,
            steps.dur_ns,
            steps.step_kind,
            steps.data_loading_ns
        FROM _step_costs AS costs
        JOIN steps
            ON steps.recording = costs.recording
            AND steps.pid = costs.pid
            AND steps.tid = costs.tid
            AND steps.step = costs.step
    ),
    usual AS (
        SELECT
            parts.recording,
            parts.pid,
            jobs.job,
            median(data_loading_ns) AS data_loading_ns,
            median(runq_ns) AS runq_ns,
            median(alloc_ns) AS alloc_ns,
            median(gpu_wait_ns) AS gpu_wait_ns,
            median(compute_ns) AS compute_ns,
            median(asleep_ns) AS asleep_ns,
            median(unknown_ns) AS unknown_ns
        FROM parts
        JOIN _rank_jobs AS jobs ON jobs.recording = parts.recording AND jobs.pid = parts.pid
        WHERE step_kind = 'train'
        GROUP BY ALL
    ),
    others AS (
        SELECT
            recording,
            pid,
            median(data_loading_ns) OVER but_this AS data_loading_ns,
            median(runq_ns) OVER but_this AS runq_ns,
            median(alloc_ns) OVER but_this AS alloc_ns,
            median(gpu_wait_ns) OVER but_this AS gpu_wait_ns,
            median(compute_ns) OVER but_this AS compute_ns,
            median(asleep_ns) OVER but_this AS asleep_ns,
            median(unknown_ns) OVER but_this AS unknown_ns
        FROM usual
        WINDOW but_this AS (
            PARTITION BY job
            ORDER BY recording, pid
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW
        )
        QUALIFY count(*) OVER (PARTITION BY job) > 1
    ),
    -- How much more than the others a rank spends on each part of a step [ns].
    compared AS (
        SELECT
            parts.recording,
            parts.pid,
            parts.tid,
            parts.step,
            parts.start_ns,
            parts.end_ns,
            parts.dur_ns,
            parts.step_kind,
            parts.checkpoints,
            parts.data_loading_ns - others.data_loading_ns AS data_more_ns,
            parts.runq_ns - others.runq_ns AS runq_more_ns,
            parts.alloc_ns - others.alloc_ns AS alloc_more_ns,
            parts.gpu_wait_ns - others.gpu_wait_ns AS gpu_wait_more_ns,
            parts.compute_ns - others.compute_ns AS compute_more_ns,
            parts.asleep_ns - others.asleep_ns AS asleep_more_ns,
            parts.unknown_ns - others.unknown_ns AS unknown_more_ns
        FROM parts
        JOIN others ON others.recording = parts.recording AND others.pid = parts.pid
    ),
    complete AS (
        SELECT
            arrivals.comm_id,
            arrivals.number,
            arrivals.name,
            arrivals.nranks,
            arrivals.hosts,
            arrivals.first_ns,
            arrivals.skew_ns,
            arrivals.behind_ns,
            arrivals.error_ns,
            arrivals.late_rank,
            arrivals.late_recording,
            arrivals.late_pid,
            arrivals.late_ns
        FROM collective_arrivals AS arrivals
        WHERE arrivals.by_all AND arrivals.skew_ns IS NOT NULL
    ),
    placed AS (
        SELECT
            complete.*,
            compared.tid,
            compared.step,
            compared.dur_ns AS step_ns,
            compared.step_kind,
            compared.checkpoints,
            compared.data_more_ns,
            compared.runq_more_ns,
            compared.alloc_more_ns,
            compared.gpu_wait_more_ns,
            compared.compute_more_ns,
            compared.asleep_more_ns,
            compared.unknown_more_ns,
            row_number() OVER (
                PARTITION BY complete.comm_id, compared.step
                ORDER BY complete.skew_ns DESC, complete.number
            ) AS place
        FROM complete
        ASOF JOIN compared
            ON compared.recording = complete.late_recording
            AND compared.pid = complete.late_pid
            AND compared.start_ns <= complete.late_ns
        WHERE complete.late_ns < compared.end_ns
    ),
    worst AS (
        SELECT
            placed.*,
            placed.first_ns + placed.skew_ns - middle.middle_ns AS lag_ns,
            0.3 * least(lag_ns, placed.step_ns) AS enough_ns
        FROM placed
        JOIN _middle_arrivals AS middle ON middle.comm_id = placed.comm_id AND middle.number = placed.number
        WHERE placed.place = 1
    ),
    explained AS (
        SELECT
            worst.*,
            CASE
                WHEN late_rank IS NULL THEN NULL
                WHEN alloc_more_ns >= greatest(runq_more_ns, enough_ns) THEN 'allocation'
                WHEN runq_more_ns >= enough_ns THEN 'preemption'
                WHEN checkpoints > 0 AND compute_more_ns + asleep_more_ns + unknown_more_ns >= enough_ns
                    THEN 'checkpoint'
                WHEN data_more_ns
                    >= greatest(compute_more_ns, asleep_more_ns, gpu_wait_more_ns, unknown_more_ns, enough_ns)
                    THEN 'data wait'
                WHEN asleep_more_ns >= greatest(compute_more_ns, gpu_wait_more_ns, unknown_more_ns, enough_ns)
                    THEN 'asleep'
                WHEN compute_more_ns >= greatest(gpu_wait_more_ns, unknown_more_ns, enough_ns) THEN 'compute'
                WHEN gpu_wait_more_ns >= greatest(unknown_more_ns, enough_ns) THEN 'slow GPU'
                WHEN unknown_more_ns >= enough_ns THEN 'other'
            END AS cause
        FROM worst
    )
SELECT
    comm_id, -- communicator, the same number in all ranks
    step, -- number of the step, of the rank that came last
    number, -- number of the collective on the communicator
    name, -- NCCL function
    nranks, -- ranks of the communicator
    hosts, -- machines they ran on
    late_rank, -- the rank that came last; NULL where the delay is not above the error
    late_recording AS recording, -- its recording
    late_pid AS pid, -- its process
    tid, -- its training thread
    late_ns, -- [ns] when it came, by the clock of its machine
    step_ns, -- [ns] how long its step took
    step_kind, -- warmup, train, evaluation, checkpoint or profiler
    skew_ns, -- [ns] how much later it came than the first rank
    lag_ns, -- [ns] how much later than the middle one
    behind_ns, -- [ns] how much later than the last but one
    error_ns, -- [ns] by which these may be off, +-; 0 on one machine
    cause, -- data wait, preemption, allocation, checkpoint, compute, asleep, slow GPU, other or NULL
    CASE cause
        WHEN 'allocation' THEN alloc_more_ns
        WHEN 'preemption' THEN runq_more_ns
        WHEN 'data wait' THEN data_more_ns
        WHEN 'compute' THEN compute_more_ns
        WHEN 'slow GPU' THEN gpu_wait_more_ns
        WHEN 'asleep' THEN asleep_more_ns
        WHEN 'checkpoint' THEN compute_more_ns + asleep_more_ns + unknown_more_ns
        WHEN 'other' THEN unknown_more_ns
    END AS cause_ns -- [ns] that the rank spent more on it than the others
FROM explained
