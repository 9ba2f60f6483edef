-- Thresholds of the rules that say what a thread without regions does while it is in no recorded call.
--
-- Rules and names are zerneld's; `--threshold phase_rules.NAME=N` sets one.
-- In this order, for time in no call, on threads whose steps were found by what repeats: after a collective and with
-- futex waits it is NcclCollective (only with `nccl_detection`). Blocked in reads or on pipes and sockets with an idle
-- GPU it is DataLoading. Right after a wait for the GPU, and short, it is OptimizerStep. With a busy GPU it is
-- GpuCompute. Blocked half as long, with a GPU neither idle nor busy, it is DataLoading. Else it stays Unknown.
-- The GPU counts as busy where the process launches; elsewhere the driver's samples say it, and without them it idles.
--
-- needs: files
CREATE VIEW phase_rules AS
WITH
    thresholds AS (
        SELECT
            0.3 AS io_wait_threshold, -- blocked share of the time above which it is DataLoading
            5000000 AS optimizer_burst_max_ns, -- [ns] longest burst after a wait for the GPU that is OptimizerStep
            10 AS gpu_idle_threshold, -- [%] utilization below which the GPU is idle
            80 AS gpu_active_threshold, -- [%] utilization above which it is busy
            3 AS phase_stability_count, -- times that a rule must apply on a thread to count
            FALSE AS nccl_detection -- whether the first rule is used
    )
SELECT
    files.recording, -- recording
    thresholds.io_wait_threshold, -- blocked share of the time above which it is DataLoading
    thresholds.optimizer_burst_max_ns, -- [ns] longest burst after a wait for the GPU that is OptimizerStep
    thresholds.gpu_idle_threshold, -- [%] utilization below which the GPU is idle
    thresholds.gpu_active_threshold, -- [%] utilization above which it is busy
    thresholds.phase_stability_count, -- times that a rule must apply on a thread to count
    thresholds.nccl_detection -- whether the first rule is used
FROM files
CROSS JOIN thresholds
