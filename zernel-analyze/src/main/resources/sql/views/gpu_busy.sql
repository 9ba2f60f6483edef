-- How busy the GPU of each training process was while it trained, by the driver's samples.
--
-- A sample says in which share of the time before it a kernel ran; copies do not count, and a collective that waits
-- for other ranks does. A step cannot become shorter than its GPU is busy, so what removing any cause on the CPU saves
-- is at most `idle_ns`. A process's GPU is the one on which the driver lists it, or the only one that was sampled.
--
-- needs: _rare_events, steps, _step_counts
CREATE TABLE gpu_busy AS
WITH
    constants AS (
        SELECT 1000000000 AS period_ns -- [ns] a sample speaks of the time since the one before, at most of so much
    ),
    trained AS (
        SELECT
            steps.recording,
            steps.pid,
            min(steps.start_ns) AS start_ns,
            max(steps.end_ns) AS end_ns,
            avg(steps.dur_ns) AS step_ns
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        WHERE steps.step > 1
        GROUP BY ALL
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
        FROM _rare_events
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
        FROM _rare_events
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
        FROM trained
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
            least(samples.end_ns, devices.end_ns) - greatest(samples.start_ns, devices.start_ns) AS weight
        FROM devices
        JOIN samples ON samples.recording = devices.recording AND samples.device = devices.device
    )
SELECT
    recording, -- recording
    pid, -- process that trains
    device, -- its GPU, as the driver counts them
    count(*) AS samples, -- samples of which at least half lies between the first step and the end of the last
    sum(weight * value) / sum(weight) / 100 AS busy, -- share of that time in which a kernel ran, 0 to 1
    greatest(1 - sum(weight * value) / sum(weight) / 100, 0) * any_value(step_ns)
        AS idle_ns -- [ns] of a mean step in which none ran
FROM weighted
WHERE 2 * weight >= span_ns AND span_ns > 0
GROUP BY ALL
ORDER BY recording, pid
