-- Ranks of all recordings: where each runs, what its steps consist of, how late it comes to the others, and why.
--
-- What `rank_paces` has of each rank, with what it spent more time on in the steps in which it came last.
--
-- needs: rank_paces, late_steps
CREATE TABLE fleet_ranks AS
WITH
    causes AS (
        SELECT recording, pid, arg_max(cause, (steps, coalesce(cause, ''))) AS cause
        FROM (
            SELECT recording, pid, cause, count(*) AS steps
            FROM late_steps
            WHERE late_rank IS NOT NULL AND step_kind <> 'warmup'
            GROUP BY recording, pid, cause
        )
        GROUP BY recording, pid
    )
SELECT
    paces.recording, -- recording
    paces.host, -- machine
    paces.pid, -- process
    paces.rank, -- rank in the job, or else in a communicator
    paces.local_rank, -- place on its machine, from 0
    paces.world_size, -- ranks of the job, as it was started
    paces.steps, -- steps without warm-up
    paces.step_ns, -- [ns] mean step
    paces.data_loading_ns, -- [ns] of it waiting for data
    paces.gpu_compute_ns, -- [ns] of it in compute and waits for the GPU
    paces.nccl_collective_ns, -- [ns] of it in NCCL calls and waits for collectives
    paces.optimizer_step_ns, -- [ns] of it in the optimizer
    paces.unknown_ns, -- [ns] of it in anything else
    paces.lag_ns, -- [ns] after the middle rank at collectives, median; below 0 where before
    paces.times_last, -- collectives to which it came last of all
    causes.cause -- what it spent more time on then, see late_steps
FROM rank_paces AS paces
LEFT JOIN causes ON causes.recording = paces.recording AND causes.pid = paces.pid
ORDER BY paces.recording, paces.local_rank, paces.pid
