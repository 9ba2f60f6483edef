-- Each step's worst collective on a communicator: which rank came last, how late, and why.
--
-- The step is that of the rank that came last. The cause is what this rank spent more time on in the step than the
-- other ranks usually do; it is NULL where nothing explains a third of the delay, or of the step where that is shorter:
-- a delay adds up over steps where ranks do not wait for each other on their CPUs. Only collectives count that all
-- ranks called.
--
-- needs: collective_arrivals, rank_arrivals, _step_parts
CREATE TABLE late_steps AS
WITH
    complete AS (
        SELECT
            arrivals.comm_id,
            arrivals.number,
            arrivals.name,
            arrivals.nranks,
            arrivals.hosts,
            arrivals.skew_ns,
            arrivals.behind_ns,
            arrivals.error_ns,
            arrivals.late_rank,
            arrivals.late_recording,
            arrivals.late_pid,
            arrivals.late_ns
        FROM collective_arrivals AS arrivals
        WHERE arrivals.nranks > 1 AND arrivals.ranks = arrivals.nranks AND arrivals.skew_ns IS NOT NULL
    ),
    placed AS (
        SELECT
            complete.*,
            parts.tid,
            parts.step,
            parts.dur_ns AS step_ns,
            parts.step_kind,
            parts.checkpoints,
            parts.data_more_ns,
            parts.runq_more_ns,
            parts.alloc_more_ns,
            parts.gpu_wait_more_ns,
            parts.compute_more_ns,
            parts.asleep_more_ns,
            parts.unknown_more_ns,
            row_number() OVER (
                PARTITION BY complete.comm_id, parts.step
                ORDER BY complete.skew_ns DESC, complete.number
            ) AS place
        FROM complete
        ASOF JOIN _step_parts AS parts
            ON parts.recording = complete.late_recording
            AND parts.pid = complete.late_pid
            AND parts.start_ns <= complete.late_ns
        WHERE complete.late_ns < parts.end_ns
    ),
    worst AS (
        SELECT placed.*, rank_arrivals.lag_ns, 0.3 * least(rank_arrivals.lag_ns, placed.step_ns) AS enough_ns
        FROM placed
        JOIN rank_arrivals
            ON rank_arrivals.comm_id = placed.comm_id
            AND rank_arrivals.number = placed.number
            AND rank_arrivals.recording = placed.late_recording
            AND rank_arrivals.pid = placed.late_pid
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
    step_kind, -- warmup, train, evaluation or checkpoint
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
