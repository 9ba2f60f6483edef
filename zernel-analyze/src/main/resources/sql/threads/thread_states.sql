-- The mean step of each training thread, by the state of the thread. The states add up to the step.
--
-- Only steps of kind *train* count. What each state is, `step_states` says.
--
-- needs: step_states
CREATE VIEW thread_states AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    count(*) AS steps, -- steps of kind train
    avg(dur_ns) AS step_ns, -- [ns] mean wall time of a step
    avg(called_ns) AS called_ns, -- [ns] of it on a CPU, in a recorded call or the forward pass
    avg(between_ns) AS between_ns, -- [ns] on a CPU, in no recorded call
    avg(runnable_ns) AS runnable_ns, -- [ns] ready to run, without a CPU
    avg(storage_ns) AS storage_ns, -- [ns] blocked on storage
    avg(socket_ns) AS socket_ns, -- [ns] blocked on a socket or a pipe
    avg(thread_ns) AS thread_ns, -- [ns] blocked on another thread
    avg(process_ns) AS process_ns, -- [ns] blocked on another process
    avg(gpu_ns) AS gpu_ns, -- [ns] blocked on the GPU
    avg(collective_ns) AS collective_ns, -- [ns] blocked on a collective
    avg(asleep_ns) AS asleep_ns, -- [ns] asleep by itself, or stopped
    avg(unexplained_ns) AS unexplained_ns -- [ns] off the CPU, and nothing says why
FROM step_states
WHERE step_kind = 'train'
GROUP BY recording, pid, tid
ORDER BY recording, pid, tid
