-- GPU memory per process and device: what was allocated, the peaks, and what could not be had.
--
-- `live` is memory allocated from the driver since recording began (PyTorch calls it reserved), `allocated` what
-- PyTorch's allocator handed out of it. `unknown_frees` released memory whose allocation was not seen. A failed
-- allocation means that the GPU's memory was used up. Releases of nothing (address 0) are no calls here, nor are those
-- of a handle without bytes: it was retained and is released once more, as NCCL does, or is of the host's memory.
--
-- needs: events, device_memory, _torch_levels, _torch_slices
CREATE TABLE memory_use AS
WITH
    peaks AS (
        SELECT
            recording,
            pid,
            device,
            max(live_bytes) AS peak_bytes,
            arg_max(at_ns, (live_bytes, -at_ns)) AS peak_at_ns,
            arg_max(live_bytes, at_ns) AS end_bytes
        FROM device_memory
        GROUP BY ALL
    ),
    calls AS (
        SELECT
            recording,
            pid,
            device,
            count(CASE WHEN kind = 'gpu_alloc' AND status = 0 THEN 1 END) AS allocs,
            count(CASE WHEN kind = 'gpu_free' AND status = 0 AND bytes > 0 THEN 1 END) AS frees,
            count(CASE WHEN kind = 'gpu_free' AND status = 0 AND bytes IS NULL AND addr IS NOT NULL THEN 1 END)
                AS unknown_frees,
            count(CASE WHEN kind = 'gpu_alloc' AND status <> 0 THEN 1 END) AS failed_allocs,
            max(CASE WHEN kind = 'gpu_alloc' AND status <> 0 THEN bytes END) AS failed_bytes,
            sum(dur_ns) AS call_ns
        FROM events
        WHERE kind IN ('gpu_alloc', 'gpu_free')
            AND (kind IN ('gpu_alloc', 'gpu_free')) IS TRUE
            AND outermost(depth, ts_ns)
            -- To release nothing is allowed, and no memory of any device.
            AND NOT (
                kind = 'gpu_free'
                AND (coalesce(addr = 0, FALSE) OR (bytes IS NULL AND name IN ('cuMemRelease', 'hipMemRelease')))
            )
        GROUP BY ALL
    ),
    torch_peaks AS (
        SELECT
            recording,
            pid,
            device,
            CAST(sum(allocs) AS BIGINT) AS torch_allocs,
            max(allocated_bytes) AS torch_peak_bytes,
            arg_max(allocated_bytes, at_ns) AS torch_end_bytes
        FROM (
            SELECT recording, pid, device, at_ns, allocated_bytes, NULL AS allocs
            FROM _torch_levels
            UNION ALL
            SELECT recording, pid, device, NULL AS at_ns, NULL AS allocated_bytes, allocs
            FROM _torch_slices
        )
        GROUP BY ALL
    ),
    device_side AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.device,
            calls.allocs,
            calls.frees,
            calls.unknown_frees,
            calls.failed_allocs,
            calls.failed_bytes,
            calls.call_ns,
            peaks.peak_bytes,
            peaks.peak_at_ns,
            peaks.end_bytes
        FROM calls
        LEFT JOIN peaks
            ON peaks.recording = calls.recording
            AND peaks.pid = calls.pid
            AND peaks.device IS NOT DISTINCT FROM calls.device
    )
SELECT
    coalesce(device_side.recording, torch_peaks.recording) AS recording, -- recording
    coalesce(device_side.pid, torch_peaks.pid) AS pid, -- process
    coalesce(device_side.device, torch_peaks.device) AS device, -- GPU as the process counts them
    coalesce(device_side.allocs, 0) AS allocs, -- allocations from the driver
    coalesce(device_side.frees, 0) AS frees, -- their releases
    coalesce(device_side.unknown_frees, 0) AS unknown_frees, -- releases of memory whose allocation was not seen
    coalesce(device_side.failed_allocs, 0) AS failed_allocs, -- allocations that failed
    device_side.failed_bytes, -- [bytes] the largest of them
    CAST(coalesce(device_side.call_ns, 0) AS BIGINT) AS call_ns, -- [ns] time in these calls
    coalesce(device_side.peak_bytes, 0) AS peak_bytes, -- [bytes] most that was live at once
    device_side.peak_at_ns, -- [ns] when
    coalesce(device_side.end_bytes, 0) AS end_bytes, -- [bytes] live at the end
    torch_peaks.torch_allocs, -- times that PyTorch's allocator handed out memory
    torch_peaks.torch_peak_bytes, -- [bytes] most that it had handed out at once
    torch_peaks.torch_end_bytes -- [bytes] handed out at the end
FROM device_side
FULL JOIN torch_peaks
    ON torch_peaks.recording = device_side.recording
    AND torch_peaks.pid = device_side.pid
    AND torch_peaks.device IS NOT DISTINCT FROM device_side.device
ORDER BY ALL
