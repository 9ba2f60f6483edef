-- What PyTorch's allocator handed out and took back in each 4 ms (2^22 ns) in which it did.
--
-- A recording has millions of these events, and to sort them all costs more than all else in a report. A recording that
-- holds only a sample of them, or windows, has no rows here.
--
-- needs: events, _sampled, _detail
CREATE TABLE _torch_slices AS
WITH
    slices AS (
        SELECT
            recording,
            pid,
            device,
            ts_ns >> 22 AS slice,
            sum(CASE kind WHEN 'torch_alloc' THEN bytes ELSE -bytes END) AS change_bytes,
            sum(CASE kind WHEN 'torch_alloc' THEN bytes ELSE 0 END) AS handed_out_bytes,
            count(CASE kind WHEN 'torch_alloc' THEN 1 END) AS allocs
        FROM events
        WHERE (kind IN ('torch_alloc', 'torch_free')) IS TRUE
            AND bytes > 0
            AND recording NOT IN (SELECT recording FROM _sampled WHERE kind <> 'cuda_launch')
            AND recording NOT IN (SELECT recording FROM _detail WHERE kind LIKE 'torch\_%' ESCAPE '\')
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU as the process counts them
    slice, -- number of the slice
    CAST(change_bytes AS BIGINT) AS change_bytes, -- [bytes] handed out less given back
    CAST(handed_out_bytes AS BIGINT) AS handed_out_bytes, -- [bytes] handed out
    allocs, -- times that memory was handed out
    CAST(sum(change_bytes) OVER (
        PARTITION BY recording, pid, device
        ORDER BY slice
        ROWS UNBOUNDED PRECEDING
    ) AS BIGINT) AS allocated_bytes -- [bytes] handed out at the end of the slice
FROM slices
