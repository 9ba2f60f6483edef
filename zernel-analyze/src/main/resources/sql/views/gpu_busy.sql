-- How busy the GPU of each training process was while it trained, by a profiler's trace or the driver's samples.
--
-- A sample says in which share of the time before it a kernel ran; copies do not count, and a collective that waits
-- for other ranks does. A step cannot become shorter than its GPU is busy, so what removing any cause on the CPU saves
-- is at most `idle_ns`. A process's GPU is the one on which the driver lists it, or the only one that was sampled. A
-- sample that reaches beyond the training, where the GPU was idle, counts only if none lies within, and if half of it
-- does. A trace that covers at least two steps is exact, and counts instead of samples. Only a trace tells how much
-- communication no computation hides.
--
-- needs: events, _trained, gpu_time
CREATE TABLE gpu_busy AS
WITH
    constants AS (
        SELECT
            1000000000 AS period_ns, -- [ns] a sample speaks of the time since the one before, at most of so much
            0.03 AS error, -- of samples, as a share of the time
            2 AS min_steps -- steps that a trace covers
    ),
    samples AS (
        SELECT
            recording,
            device,
            greatest(
                lag(ts_ns, 1, 0) OVER (PARTITION BY recording, device ORDER BY ts_ns),
                ts_ns - constants.period_ns
            ) AS start_ns,
            ts_ns AS end_ns,
            value
        FROM events
        CROSS JOIN constants
        WHERE kind = 'gpu_sample' AND name = 'utilization'
    ),
    only_devices AS (
        SELECT recording, any_value(device) AS device
        FROM samples
        GROUP BY recording
        HAVING count(DISTINCT device) = 1
    ),
    listed AS (
        SELECT recording, pid, mode(device) AS device
        FROM events
        WHERE kind = 'gpu_process'
        GROUP BY ALL
    ),
    devices AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.start_ns,
            trained.end_ns,
            trained.step_ns,
            coalesce(listed.device, only_devices.device) AS device
        FROM _trained AS trained
        LEFT JOIN listed ON listed.recording = trained.recording AND listed.pid = trained.pid
        LEFT JOIN only_devices ON only_devices.recording = trained.recording
    ),
    weighted AS (
        SELECT
            devices.recording,
            devices.pid,
            devices.device,
            devices.step_ns,
            samples.value,
            samples.end_ns - samples.start_ns AS span_ns,
            least(samples.end_ns, devices.end_ns) - greatest(samples.start_ns, devices.start_ns) AS weight,
            max(weight = span_ns) OVER (PARTITION BY devices.recording, devices.pid) AS any_whole
        FROM devices
        JOIN samples ON samples.recording = devices.recording AND samples.device = devices.device
    ),
    sampled AS (
        SELECT
            recording,
            pid,
            device,
            count(*) AS samples,
            sum(weight * value) / sum(weight) / 100 AS busy,
            NULL AS exposed,
            any_value(step_ns) AS step_ns
        FROM weighted
        WHERE span_ns > 0 AND CASE WHEN any_whole THEN weight = span_ns ELSE 2 * weight >= span_ns END
        GROUP BY ALL
    ),
    traced AS (
        SELECT
            trained.recording,
            trained.pid,
            arg_max(gpu_time.device, gpu_time.busy_ns) AS device,
            0 AS samples,
            max(gpu_time.busy_share) AS busy,
            arg_max(gpu_time.exposed_communication_share, gpu_time.busy_ns) AS exposed,
            any_value(trained.step_ns) AS step_ns
        FROM _trained AS trained
        JOIN gpu_time ON gpu_time.recording = trained.recording AND gpu_time.pid = trained.pid
        CROSS JOIN constants
        WHERE gpu_time.profiled_ns >= constants.min_steps * trained.step_ns
        GROUP BY ALL
    ),
    best AS (
        SELECT recording, pid, device, samples, busy, exposed, step_ns
        FROM traced
        UNION ALL
        SELECT recording, pid, device, samples, busy, exposed, step_ns
        FROM sampled
        WHERE (recording, pid) NOT IN (SELECT (recording, pid) FROM traced)
    )
SELECT
    best.recording, -- recording
    best.pid, -- process that trains
    best.device, -- its GPU, as the driver counts them, by a trace as the process does
    best.samples, -- samples of the time from the first step to the end of the last; 0 by a trace
    best.busy, -- share of that time in which a kernel ran, 0 to 1
    greatest(1 - best.busy, 0) * best.step_ns AS idle_ns, -- [ns] of a mean step in which none ran
    (greatest(1 - best.busy, 0) + constants.error) * best.step_ns
        AS most_idle_ns, -- [ns] the same at most, for bounds: the samples are not exact
    best.exposed * best.step_ns
        AS exposed_communication_ns -- [ns] in which only communication ran; NULL without a trace
FROM best
CROSS JOIN constants
ORDER BY best.recording, best.pid
