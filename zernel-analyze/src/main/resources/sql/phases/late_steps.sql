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
