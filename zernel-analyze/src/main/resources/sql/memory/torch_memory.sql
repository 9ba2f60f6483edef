-- Memory that PyTorch's allocator has handed out, over time: one row per event, with the exact sum after it.
--
-- This is what tensors use. What the allocator holds (reserved) is in `device_memory`; the difference is cached or lost
-- to fragmentation. Memory handed out before recording began is in neither. A recording that
-- holds only a sample of these events, or windows, has no rows here: see `torch_memory_windows`.
--
-- needs: events, _sampled, _detail
CREATE VIEW torch_memory AS
WITH
    changes AS (
        SELECT
            recording,
            pid,
            device,
            ts_ns AS at_ns,
            CASE kind WHEN 'torch_alloc' THEN bytes ELSE -bytes END AS change_bytes
        FROM events
        WHERE kind IN ('torch_alloc', 'torch_free')
            AND bytes > 0
            AND recording NOT IN (SELECT recording FROM _sampled WHERE kind <> 'cuda_launch')
            AND recording NOT IN (SELECT recording FROM _detail WHERE kind LIKE 'torch\_%' ESCAPE '\')
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU as the process counts them
    at_ns, -- [ns] when it was handed out or given back
    change_bytes, -- [bytes] handed out, or given back when negative
    CAST(sum(change_bytes) OVER (
        PARTITION BY recording, pid, device
        ORDER BY at_ns
        ROWS UNBOUNDED PRECEDING
    ) AS BIGINT) AS allocated_bytes -- [bytes] handed out after it
FROM changes
