-- Matrix products run in a data type that the GPU computes slowly. They use no tensor cores, or float64.
--
-- Of a trace, or of what CUPTI recorded, by the names of kernels. PyTorch multiplies float32 without tensor cores
-- unless it may use TF32. What that costs is not known from here: tensor cores are at least twice as fast, 16 bits are
-- half the bytes, and float32 has half of those of float64; but whether results have to be that exact is not known, nor
-- whether the GPU has tensor cores (NVIDIA's since Volta), and where it also waits for the CPU, that may become the
-- limit. So the least is nothing; the most is all of that time but what the fastest tensor cores take.
-- Does not apply to kernels of AMD's libraries, nor to what a compiler has made, whose names do not tell.
--
-- needs: _told_kernels
-- severity: medium
-- hint: zernel-analyze gpu lists the kernels by time
WITH
    thresholds AS (
        SELECT
            0.1 AS min_share, -- of the time that was profiled, in such kernels
            0.02 AS told_idle, -- of the time, from which on that the GPU is idle is worth a word
            32 AS tensor_times -- as fast as FP32 pipes tensor cores multiply at most (TF32 of Hopper: 7)
    ),
    costs AS (
        SELECT
            kernels.*,
            thresholds.*,
            kernels.share * kernels.step_ns AS product_ns,
            speedup(
                kernels.step_ns,
                if(kernels.sort = 'float32', product_ns * (1 - 1 / thresholds.tensor_times), product_ns)
            ) AS most
        FROM _told_kernels AS kernels
        CROSS JOIN thresholds
        WHERE kernels.sort IN ('float32', 'float64')
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    round(100 * share, 1) AS value, -- [%] time in such kernels
    '% of the time in ' || sort || CASE WHEN sort = 'float32' THEN ', without tensor cores' ELSE '' END
        AS unit, -- unit of value
    'medium' AS severity, -- what it costs is not known
    most AS max_speedup, -- bound, if all of that time is saved that can be
    CASE
        WHEN steps = 0 THEN format('{} of {}', ms(product_ns), ms(step_ns))
        ELSE format('{}: {} of {}', mean_of(steps), ms(product_ns), ms(step_ns))
    END
        || format(' GPU {} multiplies in {}{}, most in {}; ',
            device, sort, CASE WHEN sort = 'float32' THEN ' without tensor cores' ELSE '' END, left(kernel, 100))
        || CASE
            WHEN idle_share >= told_idle THEN format('the GPU is idle {} of the time; ', share_text(idle_share))
            ELSE ''
        END
        || format('a bound, not a measurement: 1.00x to {}', coalesce(format('{:.2f}x', most), 'any'))
        AS evidence, -- what it rests on
    CASE
        WHEN sort = 'float32' AND regexp_matches(kernel, 'cudnn|convolve|winograd|fprop|dgrad|wgrad')
            THEN 'torch.autocast with bfloat16, before Ampere with float16, and torch.channels_last; and leave '
                || 'torch.backends.cudnn.allow_tf32 on'
        WHEN sort = 'float32'
            THEN 'torch.set_float32_matmul_precision("high"), which allows TF32 from Ampere on; or torch.autocast with '
                || 'bfloat16, before Ampere with float16'
        ELSE 'float32, or less, where results need not be that exact: look for arrays of NumPy and numbers of Python '
            || 'that make tensors float64'
    END AS advice, -- what to try
    'zernel-analyze gpu {}' AS next_command -- to see more
FROM costs
WHERE share >= min_share
