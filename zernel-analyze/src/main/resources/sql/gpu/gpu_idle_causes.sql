-- Why each GPU was idle, in sum.
--
-- Profiling slows the CPU down, so that dispatch takes a larger share here than in a run without it. Of what was
-- recorded all along, only the time of the steps after warm-up counts, as in `gpu_time`.
--
-- needs: gpu_idle, gpu_time, _gpu_scopes
CREATE VIEW gpu_idle_causes AS
WITH
    clipped AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.device,
            spans.cause,
            -- Of a gap that lies there in part, as much of each cause.
            -- Products of seconds in ns take more than 64 bits.
            CAST(
                CAST(spans.dur_ns AS HUGEINT) * (
                    least(spans.end_ns, coalesce(scopes.end_ns, spans.end_ns))
                    - greatest(spans.start_ns, coalesce(scopes.start_ns, spans.start_ns))
                ) // (spans.end_ns - spans.start_ns) AS BIGINT
            ) AS dur_ns
        FROM gpu_idle AS spans
        LEFT JOIN _gpu_scopes AS scopes ON scopes.recording = spans.recording AND scopes.pid = spans.pid
    )
SELECT
    idle.recording, -- recording
    idle.pid, -- process
    idle.device, -- GPU
    idle.cause, -- what the GPU waited for, see `meaning`
    count(*) AS gaps, -- times that it was idle, at least in part for this
    CAST(sum(idle.dur_ns) AS BIGINT) AS idle_ns, -- [ns] in sum
    sum(idle.dur_ns) / any_value(gpu_time.profiled_ns) AS share, -- of the time that was profiled, 0 to 1
    max(idle.dur_ns) AS longest_ns, -- [ns] the longest
    CASE idle.cause
        WHEN 'data wait' THEN 'the training thread waited for data'
        WHEN 'sync' THEN 'the training thread was in a call that waits for the GPU, and had launched nothing more'
        WHEN 'collective' THEN 'the training thread was in a collective or waited for one'
        WHEN 'optimizer' THEN 'the optimizer had not launched anything yet'
        WHEN 'dispatch' THEN 'forward, backward or an operator had not launched anything yet: launch-bound'
        WHEN 'no call' THEN 'the training thread was in none of the recorded calls, such as in other Python code'
        WHEN 'launch latency' THEN 'from the call of a launch to its start on the GPU'
        WHEN 'queued' THEN 'launched in time: waited for its turn, an event, another GPU or the host'
        ELSE 'the recording does not say what the CPU did, or the trace not when it was launched'
    END AS meaning -- the cause in words
FROM clipped AS idle
JOIN gpu_time
    ON gpu_time.recording = idle.recording
    AND gpu_time.pid = idle.pid
    AND gpu_time.device = idle.device
WHERE idle.dur_ns > 0
GROUP BY idle.recording, idle.pid, idle.device, idle.cause
ORDER BY idle.recording, idle.pid, idle.device, idle_ns DESC, idle.cause
