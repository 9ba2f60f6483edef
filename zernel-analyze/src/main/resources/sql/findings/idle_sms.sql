-- The GPU is busy, but most of its SMs are idle. Kernels run all the time, and they are too small to fill it.
--
-- A GPU counts as busy while any kernel runs, be it on one SM of 132; hardware counters say how many had work. The
-- bound is that the same work fills all SMs: it is no measurement, and less where memory or one slow block limits.
-- Does not apply to processes that use NCCL, whose kernels wait for other ranks on few SMs; nor where another process
-- uses the GPU, or MIG parts it: counters are those of all.
--
-- needs: gpu_counters, gpu_busy, _rare_events, events
-- severity: medium below 25 % of the SMs' time, else low
-- hint: the view gpu_counters has the counters of each GPU; Hopper GPUs and newer have them
WITH
    thresholds AS (
        SELECT
            3 AS min_samples, -- intervals of the counters
            0.85 AS min_busy, -- share of the time in which a kernel ran
            0.5 AS max_active, -- share of the SMs' time in which an SM had a warp
            0.25 AS few -- the same from which on the severity is low
    ),
    companions AS (
        SELECT DISTINCT recording, device, pid
        FROM events
        WHERE kind = 'gpu_process' AND name = 'sm' AND value > 0
    ),
    alone AS (
        SELECT recording, device
        FROM gpu_counters
        GROUP BY recording, device
        HAVING count(*) = 1
    )
SELECT
    counters.recording, -- recording
    counters.pid, -- process that trains
    round(100 * counters.sm_active, 1) AS value, -- [%] SM activity
    '% of the time of SMs' AS unit, -- unit of value
    CASE WHEN counters.sm_active < thresholds.few THEN 'medium' ELSE 'low' END AS severity, -- by how many are idle
    round(1 / greatest(counters.sm_active, 0.01), 2) AS max_speedup, -- bound, if all SMs had the same work
    format('a kernel ran {} of the time (NVML), and an SM had work {} of it, {} of the warps that fit ({} intervals of '
            || 'hardware counters); DRAM {}; a bound, not a measurement: if the same work filled all SMs, a step would '
            || 'take no less than {} of its time: 1.00x to {:.2f}x',
        pct(busy.train_busy), pct(counters.sm_active), pct(coalesce(counters.sm_occupancy, 0)), counters.samples,
        coalesce('is busy ' || pct(counters.dram_active), 'is not known'), pct(counters.sm_active),
        1 / greatest(counters.sm_active, 0.01)) AS evidence, -- what it rests on
    'give kernels more to do: a larger batch, fused kernels (torch.compile), independent work on several streams'
        AS advice, -- what to try
    'zernel-analyze gpu --counters {}' AS next_command -- to see more
FROM gpu_counters AS counters
JOIN alone ON alone.recording = counters.recording AND alone.device = counters.device
JOIN gpu_busy AS busy ON busy.recording = counters.recording AND busy.pid = counters.pid
CROSS JOIN thresholds
WHERE counters.instance IS NULL
    AND counters.samples >= thresholds.min_samples
    AND busy.train_busy >= thresholds.min_busy
    AND counters.sm_active <= thresholds.max_active
    AND (counters.recording, counters.pid) NOT IN (SELECT (recording, pid) FROM _rare_events WHERE kind = 'nccl')
    AND NOT EXISTS (
        SELECT 1
        FROM companions
        WHERE companions.recording = counters.recording
            AND companions.device = counters.device
            AND companions.pid <> counters.pid
    )
