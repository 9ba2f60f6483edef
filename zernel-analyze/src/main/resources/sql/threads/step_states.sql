-- Where each step of a training thread went, by the state of the thread. The states add up to the step.
--
-- *called* is on a CPU in a recorded call or in the forward pass, *between* is on a CPU in none; every other state is
-- off the CPU, see `off_cpu_spans`. While a thread waits for the GPU or for a collective, it is in that state however
-- it waits. Spans below the recorder's threshold count as on the CPU; where the scheduler was not recorded, so does
-- all that no waiting call tells.
--
-- needs: steps, _off_cpu_steps
CREATE TABLE step_states AS
WITH
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            sum(CASE WHEN part = 'unknown' THEN dur_ns ELSE 0 END) AS unknown_off_ns,
            sum(dur_ns) AS off_ns,
            sum(runq_ns) AS runnable_ns,
            sum(CASE WHEN state = 'storage' THEN blocked_ns ELSE 0 END) AS storage_ns,
            sum(CASE WHEN state IN ('pipe', 'socket') THEN blocked_ns ELSE 0 END) AS socket_ns,
            sum(CASE WHEN state = 'thread' THEN blocked_ns ELSE 0 END) AS thread_ns,
            sum(CASE WHEN state = 'process' THEN blocked_ns ELSE 0 END) AS process_ns,
            sum(CASE WHEN state = 'gpu' THEN blocked_ns ELSE 0 END) AS gpu_ns,
            sum(CASE WHEN state = 'collective' THEN blocked_ns ELSE 0 END) AS collective_ns,
            sum(CASE WHEN state IN ('asleep', 'stopped') THEN blocked_ns ELSE 0 END) AS asleep_ns,
            sum(CASE WHEN state = 'unexplained' THEN blocked_ns ELSE 0 END) AS unexplained_ns
        FROM _off_cpu_steps
        GROUP BY ALL
    )
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- training thread
    steps.step, -- number of the step, from 1
    steps.step_kind, -- warmup, train, evaluation, checkpoint or profiler
    steps.dur_ns, -- [ns] wall time
    CAST(greatest(
        steps.dur_ns - steps.unknown_ns - coalesce(sums.off_ns - sums.unknown_off_ns, 0),
        0
    ) AS BIGINT) AS called_ns, -- [ns] on a CPU, in a recorded call or the forward pass
    CAST(greatest(steps.unknown_ns - coalesce(sums.unknown_off_ns, 0), 0) AS BIGINT)
        AS between_ns, -- [ns] on a CPU, in no recorded call
    CAST(coalesce(sums.runnable_ns, 0) AS BIGINT) AS runnable_ns, -- [ns] ready to run, without a CPU
    CAST(coalesce(sums.storage_ns, 0) AS BIGINT) AS storage_ns, -- [ns] blocked on storage
    CAST(coalesce(sums.socket_ns, 0) AS BIGINT) AS socket_ns, -- [ns] blocked on a socket or a pipe
    CAST(coalesce(sums.thread_ns, 0) AS BIGINT) AS thread_ns, -- [ns] blocked on another thread
    CAST(coalesce(sums.process_ns, 0) AS BIGINT) AS process_ns, -- [ns] blocked on another process
    CAST(coalesce(sums.gpu_ns, 0) AS BIGINT) AS gpu_ns, -- [ns] blocked on the GPU
    CAST(coalesce(sums.collective_ns, 0) AS BIGINT) AS collective_ns, -- [ns] blocked on a collective
    CAST(coalesce(sums.asleep_ns, 0) AS BIGINT) AS asleep_ns, -- [ns] asleep by itself, or stopped
    CAST(coalesce(sums.unexplained_ns, 0) AS BIGINT) AS unexplained_ns -- [ns] off the CPU, and nothing says why
FROM steps
LEFT JOIN sums
    ON sums.recording = steps.recording
    AND sums.pid = steps.pid
    AND sums.tid = steps.tid
    AND sums.step = steps.step
ORDER BY steps.recording, steps.pid, steps.tid, steps.step
