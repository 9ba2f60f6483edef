-- GPU memory is used up. An allocation failed, or a GPU was almost full.
--
-- After a failed allocation PyTorch releases what it has cached and tries again, so a job can survive it, and be slow.
-- Memory that another process uses counts for the GPU as well.
-- Does not apply to programs that take all memory at the start on purpose (JAX preallocates).
--
-- needs: memory_use, gpu_usage, files
-- severity: high for failed allocations, medium for a GPU that was almost full
-- hint: zernel-analyze memory shows the peaks
-- lines: the bytes allocated BY bytes WHERE kind = 'gpu_alloc'
WITH
    thresholds AS (
        SELECT 0.95 AS min_full -- share of the GPU's memory
    ),
    failed AS (
        SELECT
            recording,
            thread_label(recording, pid, pid) || coalesce(format(' device {}', device), '') AS subject,
            CAST(failed_allocs AS DOUBLE) AS value,
            'failed allocations' AS unit,
            'high' AS severity,
            format('{} of {} allocations failed, the largest of {}; {} were live at the peak',
                failed_allocs, failed_allocs + allocs, size(coalesce(failed_bytes, 0)), size(peak_bytes))
                AS evidence
        FROM memory_use
        WHERE failed_allocs > 0
    ),
    filled AS (
        SELECT
            used.recording,
            recording_label(used.recording)
                || format('GPU {}', used.device) AS subject,
            round(100 * used.max_value / total.max_value, 1) AS value,
            '% of its memory' AS unit,
            'medium' AS severity,
            format('{} of {} used at most, {} in the median of {} samples',
                size(used.max_value), size(total.max_value), size(used.p50_value), used.samples)
                AS evidence
        FROM gpu_usage AS used
        JOIN gpu_usage AS total
            ON total.recording = used.recording
            AND total.device = used.device
            AND total.name = 'memory_total'
        CROSS JOIN thresholds
        WHERE used.name = 'memory_used' AND used.max_value >= thresholds.min_full * total.max_value
    ),
    both_kinds AS (
        SELECT recording, subject, value, unit, severity, evidence FROM failed
        UNION ALL
        SELECT recording, subject, value, unit, severity, evidence FROM filled
    )
SELECT
    recording, -- recording
    subject, -- process and its device, or the GPU
    value, -- failed allocations, or percent in use
    unit, -- unit of value
    severity, -- high or medium
    evidence, -- what it rests on
    'use less: smaller batches, gradient checkpointing, bf16, zero_grad(set_to_none=True), optimizer state sharding'
        AS advice, -- what to try
    'zernel-analyze memory {}' AS next_command -- to see more
FROM both_kinds
