-- Reserved GPU memory is not usable. PyTorch's allocator holds much more than it ever handed out at once.
--
-- Compared are the peak of what was allocated from the driver and the peak of what was handed out of it. The rest is
-- lost to blocks of the wrong size, and can make an allocation fail although enough memory is free in sum.
-- Does not apply where other libraries of the process allocate device memory themselves, or where PyTorch's allocator
-- was not recorded all the time.
--
-- needs: memory_use, files
-- severity: high when an allocation failed, else medium
-- hint: torch.cuda.memory_summary() shows inactive split blocks
WITH
    thresholds AS (
        SELECT
            0.25 AS min_share, -- of the reserved memory
            268435456 AS min_bytes -- [bytes] not usable
    )
SELECT
    recording, -- recording
    thread_label(recording, pid, pid) || coalesce(format(' device {}', device), '') AS subject, -- process and GPU
    round(100 * (peak_bytes - torch_peak_bytes) / peak_bytes, 1) AS value, -- share that was never handed out
    '% of reserved memory' AS unit, -- unit of value
    CASE WHEN failed_allocs > 0 THEN 'high' ELSE 'medium' END AS severity, -- high or medium
    format('at most {} were handed out of {} reserved; {} failed allocation{}',
        size(torch_peak_bytes), size(peak_bytes), failed_allocs,
        CASE WHEN failed_allocs = 1 THEN '' ELSE 's' END)
        AS evidence, -- what it rests on
    'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; pad inputs to few sizes' AS advice, -- what to try
    'zernel-analyze memory {}' AS next_command -- to see more
FROM memory_use
CROSS JOIN thresholds
WHERE torch_peak_bytes > 0
    AND peak_bytes - torch_peak_bytes >= greatest(thresholds.min_bytes, thresholds.min_share * peak_bytes)
