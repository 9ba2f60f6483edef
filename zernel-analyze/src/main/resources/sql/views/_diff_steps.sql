-- What is compared of each step, before and after: one row per step and measure.
--
-- Recordings of side 0 are *before*, those of side 1 *after*. Steps are those of each process's training thread with
-- the most; warm-up is left out.
--
-- needs: files, steps, step_work
CREATE TABLE _diff_steps AS
WITH
    measured AS (
        SELECT
            files.side,
            steps.recording,
            steps.pid,
            steps.step,
            unnest([
                {'position': 1, 'measure': 'step', 'unit': 'ns', 'value': steps.dur_ns},
                {'position': 2, 'measure': 'data_loading', 'unit': 'ns', 'value': data_loading_ns},
                {'position': 3, 'measure': 'gpu_compute', 'unit': 'ns', 'value': gpu_compute_ns},
                {'position': 4, 'measure': 'nccl_collective', 'unit': 'ns', 'value': nccl_collective_ns},
                {'position': 5, 'measure': 'optimizer_step', 'unit': 'ns', 'value': optimizer_step_ns},
                {'position': 6, 'measure': 'unknown', 'unit': 'ns', 'value': unknown_ns},
                {'position': 7, 'measure': 'launches', 'unit': '', 'value': launches},
                {'position': 8, 'measure': 'launch_time', 'unit': 'ns', 'value': launch_ns},
                {'position': 9, 'measure': 'copied', 'unit': 'bytes', 'value': copied_bytes},
                {'position': 10, 'measure': 'copy_time', 'unit': 'ns', 'value': copy_ns},
                {'position': 11, 'measure': 'syncs', 'unit': '', 'value': syncs},
                {'position': 12, 'measure': 'sync_time', 'unit': 'ns', 'value': sync_ns},
                {'position': 13, 'measure': 'allocations', 'unit': '', 'value': allocs},
                {'position': 14, 'measure': 'collectives', 'unit': '', 'value': collectives},
                {'position': 15, 'measure': 'collective_size', 'unit': 'bytes', 'value': collective_bytes},
                {'position': 16, 'measure': 'dist_wait', 'unit': 'ns', 'value': dist_wait_ns}
            ]) AS of_step
        FROM step_work
        JOIN steps
            ON steps.recording = step_work.recording
            AND steps.pid = step_work.pid
            AND steps.tid = step_work.tid
            AND steps.step = step_work.step
        JOIN files ON files.recording = steps.recording
        WHERE steps.step_kind <> 'warmup'
    )
SELECT
    side, -- 0 before, 1 after
    recording, -- recording
    pid, -- process
    step, -- number of the step
    of_step.position AS position, -- order of the measures
    of_step.measure AS measure, -- what was measured
    of_step.unit AS unit, -- ns, bytes, or empty for a number
    CAST(of_step.value AS DOUBLE) AS value -- [unit] how much
FROM measured
