-- What the parts of each GPU did while a process trained on it, by its hardware counters (Hopper and newer).
--
-- Each value is the mean of its interval, as NVML's GPM counts it. Those count that lie within training; where there is
-- none, those of which half does. A GPU on which no known process trains has one row of the whole recording. That a
-- kernel runs (`utilization` of `gpu_usage`) says nothing of how many SMs it uses; `sm_active` does. A GPU that MIG
-- parts has a row for each instance: which process is on which is not known.
--
-- needs: events, _trained
CREATE TABLE gpu_counters AS
WITH
    constants AS (
        SELECT
            1000000000 AS period_ns, -- [ns] that a value speaks of, where it is the only one
            0.95 AS whole, -- share of a value's time that lies within training
            0.5 AS half -- the same where none lies within
    ),
    -- PCIe was sampled before there were counters.
    counted AS (
        SELECT DISTINCT recording, device
        FROM events
        WHERE kind = 'gpu_sample' AND name = 'sm_active'
    ),
    samples AS (
        SELECT
            events.recording,
            events.device,
            events.object AS instance,
            events.name,
            events.ts_ns AS end_ns,
            coalesce(
                lag(events.ts_ns) OVER value_order,
                2 * events.ts_ns - lead(events.ts_ns) OVER value_order,
                events.ts_ns - constants.period_ns
            ) AS start_ns,
            CASE events.unit WHEN 'ppm' THEN events.value / 1e6 ELSE events.value END AS value
        FROM events
        JOIN counted ON counted.recording = events.recording AND counted.device = events.device
        CROSS JOIN constants
        WHERE events.kind = 'gpu_sample' AND events.unit IN ('ppm', 'bytes/s')
        WINDOW value_order AS (
            PARTITION BY events.recording, events.device, events.object, events.name ORDER BY events.ts_ns
        )
    ),
    listed AS (
        SELECT recording, pid, mode(device) AS device
        FROM events
        WHERE kind = 'gpu_process'
        GROUP BY ALL
    ),
    only_devices AS (
        SELECT recording, any_value(device) AS device
        FROM events
        WHERE kind = 'gpu_sample'
        GROUP BY recording
        HAVING count(DISTINCT device) = 1
    ),
    trainings AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.start_ns,
            trained.end_ns,
            coalesce(listed.device, only_devices.device) AS device
        FROM _trained AS trained
        LEFT JOIN listed ON listed.recording = trained.recording AND listed.pid = trained.pid
        LEFT JOIN only_devices ON only_devices.recording = trained.recording
    ),
    inside AS (
        SELECT
            samples.recording,
            trainings.pid,
            samples.device,
            samples.instance,
            samples.name,
            samples.value,
            samples.end_ns - samples.start_ns AS span_ns,
            (least(samples.end_ns, trainings.end_ns) - greatest(samples.start_ns, trainings.start_ns))
                / (samples.end_ns - samples.start_ns) AS share
        FROM samples
        JOIN trainings ON trainings.recording = samples.recording AND trainings.device = samples.device
        WHERE samples.end_ns > samples.start_ns
    ),
    known AS (
        SELECT recording, pid, device, instance, name, value, span_ns
        FROM inside
        CROSS JOIN constants
        QUALIFY share >= CASE
            WHEN max(share) OVER (PARTITION BY recording, pid, device) >= constants.whole THEN constants.whole
            ELSE constants.half
        END
        UNION ALL
        SELECT samples.recording, NULL, samples.device, samples.instance, samples.name, samples.value,
            greatest(samples.end_ns - samples.start_ns, 1)
        FROM samples
        ANTI JOIN trainings ON trainings.recording = samples.recording AND trainings.device = samples.device
    ),
    means AS (
        SELECT
            recording,
            pid,
            device,
            instance,
            name,
            count(*) AS samples,
            sum(value * span_ns) / sum(span_ns) AS mean,
            max(value) AS highest
        FROM known
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    pid, -- process that trains on it; NULL where none is known, and the whole recording counts
    device, -- GPU as the driver counts them
    instance, -- id of the MIG instance; NULL for the whole GPU
    CAST(max(samples) AS BIGINT) AS samples, -- intervals that these are means of
    max(mean) FILTER (WHERE name = 'sm_active') AS sm_active, -- of the SMs' time, in which an SM had a warp, 0 to 1
    max(mean) FILTER (WHERE name = 'sm_occupancy') AS sm_occupancy, -- warps on SMs, of the most that fit
    max(mean) FILTER (WHERE name = 'tensor_active') AS tensor_active, -- share of time in which tensor cores were busy
    max(highest) FILTER (WHERE name = 'tensor_active') AS most_tensor_active, -- the same of the busiest interval
    max(mean) FILTER (WHERE name = 'fp64_active') AS fp64_active, -- share of time in which FP64 pipes were busy
    max(mean) FILTER (WHERE name = 'fp32_active') AS fp32_active, -- of FP32 pipes
    max(mean) FILTER (WHERE name = 'fp16_active') AS fp16_active, -- of FP16 pipes, without tensor cores
    max(mean) FILTER (WHERE name = 'int_active') AS int_active, -- of integer pipes
    max(mean) FILTER (WHERE name = 'dram_active') AS dram_active, -- share of time in which its memory was busy
    max(mean) FILTER (WHERE name = 'pcie_tx') AS pcie_tx, -- [bytes/s] sent over PCIe
    max(mean) FILTER (WHERE name = 'pcie_rx') AS pcie_rx, -- [bytes/s] received
    max(mean) FILTER (WHERE name = 'nvlink_tx') AS nvlink_tx, -- [bytes/s] sent over NVLink
    max(mean) FILTER (WHERE name = 'nvlink_rx') AS nvlink_rx -- [bytes/s] received
FROM means
GROUP BY recording, pid, device, instance
ORDER BY recording, device, instance, pid
