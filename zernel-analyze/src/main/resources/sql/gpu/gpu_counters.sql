-- What the parts of each GPU did while a process trained on it, by its hardware counters (Hopper and newer).
--
-- Each value is the mean of its interval, as NVML's GPM counts it. Those count that lie within training; where there is
-- none, those of which half does. A GPU on which no known process trains has one row of the whole recording. That a
-- kernel runs (`utilization` of `gpu_usage`) says nothing of how many SMs it uses; `sm_active` does. A GPU that MIG
-- parts has a row for each instance: which process is on which is not known.
--
-- needs: _trained_samples
CREATE TABLE gpu_counters AS
WITH
    -- PCIe was sampled before there were counters.
    counted AS (
        SELECT DISTINCT recording, device
        FROM _trained_samples
        WHERE name = 'sm_active'
    ),
    known AS (
        SELECT
            samples.recording,
            samples.pid,
            samples.device,
            samples.instance,
            samples.name,
            CASE samples.unit WHEN 'ppm' THEN samples.value / 1e6 ELSE samples.value END AS value,
            samples.span_ns
        FROM _trained_samples AS samples
        JOIN counted ON counted.recording = samples.recording AND counted.device = samples.device
        WHERE samples.unit IN ('ppm', 'bytes/s')
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
