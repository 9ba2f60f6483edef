-- Tensor cores are idle while FP32 pipes work hard. Matrix products then run at a fraction of the GPU's speed.
--
-- Hardware counters say which pipes were busy. PyTorch multiplies FP32 matrices without tensor cores unless it may use
-- TF32. What that costs is not known from here: the least is nothing, where this work is no matrix product; the most is
-- that all work of the SMs becomes as much faster as tensor cores multiply at most, and memory moves half the bytes.
-- Does not apply where tensor cores were busy in any interval beside FP32 pipes, in FP64, where memory is the limit,
-- nor where the names of recorded kernels tell (slow_products).
--
-- needs: gpu_counters, _told_kernels
-- severity: medium
-- hint: the view gpu_counters has the counters of each GPU; Hopper GPUs and newer have them
WITH
    thresholds AS (
        SELECT
            3 AS min_samples, -- intervals of the counters
            0.5 AS min_active, -- share of the SMs' time in which an SM had a warp
            0.3 AS min_fp32, -- share of time in which FP32 pipes were busy: what only moves data keeps them below
            0.1 AS max_tensor, -- of that, tensor cores in the busiest interval: attention in FP32 uses them a little
            0.1 AS max_fp64, -- share of time in which FP64 pipes were busy
            0.7 AS max_dram, -- share of time in which memory was busy
            0.1 AS told_share, -- of the time in kernels of such products, from which on slow_products tells of them
            32 AS tensor_times -- as fast as FP32 pipes tensor cores multiply at most (TF32 of Hopper: 7)
    ),
    told AS (
        SELECT recording, pid
        FROM _told_kernels
        CROSS JOIN thresholds
        WHERE sort = 'float32' AND share >= told_share
    ),
    bounds AS (
        SELECT
            counters.*,
            greatest(
                1 - counters.sm_active * (1 - 1 / thresholds.tensor_times),
                coalesce(counters.dram_active, 0) / 2
            ) AS least_share
        FROM gpu_counters AS counters
        CROSS JOIN thresholds
        WHERE counters.pid IS NOT NULL
            AND counters.instance IS NULL
            AND counters.samples >= thresholds.min_samples
            AND counters.sm_active >= thresholds.min_active
            AND counters.fp32_active >= thresholds.min_fp32
            AND counters.most_tensor_active <= thresholds.max_tensor * counters.fp32_active
            AND coalesce(counters.fp64_active, 0) <= thresholds.max_fp64
            AND coalesce(counters.dram_active, 0) <= thresholds.max_dram
            AND (counters.recording, counters.pid) NOT IN (SELECT (recording, pid) FROM told)
    )
SELECT
    recording, -- recording
    pid, -- process that trains
    round(100 * fp32_active, 1) AS value, -- [%] activity of FP32 pipes
    '% of the time in FP32, without tensor cores' AS unit, -- unit of value
    'medium' AS severity, -- what it costs is not known
    round(1 / least_share, 2) AS max_speedup, -- bound, if all of it were matrix products
    format('FP32 pipes were busy {} of the time, tensor cores {} (at most {}), SMs {}, DRAM {} ({} intervals of '
            || 'hardware counters); a bound, not a measurement: 1.00x if this work is no matrix product, at most '
            || '{:.2f}x if all of it is',
        pct(fp32_active), share_text(tensor_active), share_text(most_tensor_active), pct(sm_active),
        coalesce(pct(dram_active), 'not known'), samples, 1 / least_share) AS evidence, -- what it rests on
    'torch.set_float32_matmul_precision("high") allows TF32; or torch.autocast with bfloat16' AS advice, -- what to try
    'zernel-analyze gpu --counters {}' AS next_command -- to see more
FROM bounds
