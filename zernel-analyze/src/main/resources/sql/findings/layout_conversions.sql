-- Tensors are converted to another memory format for convolutions. The GPU copies them, and computes nothing meanwhile.
--
-- cuDNN's kernels for tensor cores want channels last (NHWC); tensors that have channels first (NCHW), which is
-- PyTorch's default, are converted before and results after, in each step. Lost is that time, by the names of kernels
-- of a trace, or of what CUPTI recorded; where the GPU also waits for the CPU, at least what goes beyond that.
-- Does not apply to copies that other operators make (`contiguous`, `permute`), nor to Winograd's and FFT's own.
--
-- needs: _told_kernels
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze gpu lists the kernels by time
WITH
    thresholds AS (
        SELECT
            0.05 AS min_share -- of the time that was profiled, in such kernels
    ),
    costs AS (
        SELECT
            kernels.*,
            kernels.share * kernels.step_ns AS lost_ns
        FROM _told_kernels AS kernels
        WHERE kernels.sort = 'layout'
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] of it in such kernels
    lost_ns AS bound_ns, -- [ns] saved at most
    greatest(lost_ns - idle_share * step_ns, 0) AS least_lost_ns, -- [ns] beyond what the GPU is idle
    CASE
        WHEN steps = 0 THEN format('{} of {}', ms(lost_ns), ms(step_ns))
        ELSE format('{}: {} of {}', mean_of(steps), ms(lost_ns), ms(step_ns))
    END
        || format(' GPU {} converts between NCHW and NHWC, {} times in all, most in {}; ',
            device, runs, left(kernel, 100))
        AS evidence, -- what it rests on
    'model.to(memory_format=torch.channels_last), and the same for its input' AS advice, -- what to try
    'zernel-analyze gpu {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE share >= min_share
