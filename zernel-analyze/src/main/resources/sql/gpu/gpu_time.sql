-- What each GPU did while it was profiled: compute, communication, copies, or nothing.
--
-- The time is from the first activity of a trace to its last; of what was recorded all along (`--gpu-activity`), that
-- of the steps after warm-up. Compute, communication that no compute hides, copies that nothing hides, and idle time
-- add up to it. Profiling slows the CPU down, so a GPU that waits for it is idle for longer than without.
--
-- needs: _gpu_spans, _gpu_scopes
CREATE VIEW gpu_time AS
WITH
    clipped AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.device,
            spans.compute,
            spans.communication,
            spans.copy,
            coalesce(scopes.trains, FALSE) AS trains,
            least(spans.end_ns, coalesce(scopes.end_ns, spans.end_ns))
                - greatest(spans.start_ns, coalesce(scopes.start_ns, spans.start_ns)) AS dur_ns
        FROM _gpu_spans AS spans
        LEFT JOIN _gpu_scopes AS scopes ON scopes.recording = spans.recording AND scopes.pid = spans.pid
    ),
    sums AS (
        SELECT
            recording,
            pid,
            device,
            any_value(trains) AS trains,
            sum(dur_ns) AS profiled_ns,
            coalesce(sum(dur_ns) FILTER (WHERE compute OR communication), 0) AS busy_ns,
            coalesce(sum(dur_ns) FILTER (WHERE compute), 0) AS compute_ns,
            coalesce(sum(dur_ns) FILTER (WHERE communication), 0) AS communication_ns,
            coalesce(sum(dur_ns) FILTER (WHERE communication AND NOT compute), 0) AS exposed_communication_ns,
            coalesce(sum(dur_ns) FILTER (WHERE copy), 0) AS copy_ns,
            coalesce(sum(dur_ns) FILTER (WHERE copy AND NOT compute AND NOT communication), 0) AS exposed_copy_ns
        FROM clipped
        WHERE dur_ns > 0
        GROUP BY recording, pid, device
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU, as the process counts them
    CAST(profiled_ns AS BIGINT) AS profiled_ns, -- [ns] that the trace covers, or of it in those steps
    CAST(busy_ns AS BIGINT) AS busy_ns, -- [ns] of it in which a kernel ran
    CAST(compute_ns AS BIGINT) AS compute_ns, -- [ns] in which a kernel ran that is no communication
    CAST(communication_ns AS BIGINT) AS communication_ns, -- [ns] in which a kernel ran that is
    CAST(exposed_communication_ns AS BIGINT) AS exposed_communication_ns, -- [ns] of it without compute meanwhile
    CAST(copy_ns AS BIGINT) AS copy_ns, -- [ns] in which copies or fills ran
    CAST(exposed_copy_ns AS BIGINT) AS exposed_copy_ns, -- [ns] of it without a kernel meanwhile
    CAST(profiled_ns - busy_ns - exposed_copy_ns AS BIGINT) AS idle_ns, -- [ns] in which nothing ran
    busy_ns / profiled_ns AS busy_share, -- of the time, 0 to 1
    exposed_communication_ns / profiled_ns AS exposed_communication_share, -- of the time
    (profiled_ns - busy_ns - exposed_copy_ns) / profiled_ns AS idle_share, -- of the time
    (communication_ns - exposed_communication_ns) / nullif(communication_ns, 0)
        AS hidden_share, -- of communication, hidden by compute
    trains AS in_steps -- whether only the time of the steps after warm-up counts
FROM sums
ORDER BY recording, pid, device
