-- How long each process works on the CPU in a mean step, besides launches, copies and waits.
--
-- A call that enqueues waits when the queue of the GPU is full; where no launches were recorded, none is seen to.
--
-- needs: step_work
CREATE VIEW _rank_work AS
SELECT
    recording, -- recording
    pid, -- process
    avg(greatest(dur_ns - launch_ns - copy_ns - sync_ns - collective_ns - dist_wait_ns, 0))
        AS work_ns -- [ns] of a mean step after warm-up
FROM step_work
WHERE step_kind <> 'warmup' AND launch_ns IS NOT NULL
GROUP BY recording, pid
HAVING sum(launches + graph_launches) > 0
