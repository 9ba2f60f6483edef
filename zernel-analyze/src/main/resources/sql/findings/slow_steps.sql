-- Some steps take much longer than the rest. The median step is the baseline, the median deviation its spread.
--
-- Counted is the time of slow steps over the median. The first step is left out: start-up belongs to it. The phase
-- named is the one that grew most, summed over the slow steps.
--
-- needs: steps, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: `zernel-analyze steps` lists every step with its phases
WITH
    thresholds AS (
        SELECT
            20 AS min_steps, -- steps after the first
            5 AS min_deviations, -- median deviations over the median, scaled as standard deviations
            0.3 AS min_excess, -- and this share of the median
            0.02 AS min_share -- excess of all slow steps, as a share of all step time
    ),
    medians AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS steps,
            sum(dur_ns) AS all_ns,
            median(dur_ns) AS dur_ns,
            mad(dur_ns) AS deviation_ns,
            median(data_loading_ns) AS data_loading_ns,
            median(gpu_compute_ns) AS gpu_compute_ns,
            median(nccl_collective_ns) AS nccl_collective_ns,
            median(optimizer_step_ns) AS optimizer_step_ns,
            median(unknown_ns) AS unknown_ns
        FROM steps
        WHERE step > 1
        GROUP BY ALL
    ),
    slow AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            count(*) AS slow_steps,
            sum(steps.dur_ns - medians.dur_ns) AS excess_ns,
            max(steps.dur_ns) AS worst_ns,
            arg_max(steps.step, steps.dur_ns) AS worst_step,
            any_value(medians.dur_ns) AS median_ns,
            any_value(medians.steps) AS steps,
            any_value(medians.all_ns) AS all_ns,
            sum(steps.data_loading_ns - medians.data_loading_ns) AS data_loading_ns,
            sum(steps.gpu_compute_ns - medians.gpu_compute_ns) AS gpu_compute_ns,
            sum(steps.nccl_collective_ns - medians.nccl_collective_ns) AS nccl_collective_ns,
            sum(steps.optimizer_step_ns - medians.optimizer_step_ns) AS optimizer_step_ns,
            sum(steps.unknown_ns - medians.unknown_ns) AS unknown_ns
        FROM steps
        JOIN medians
            ON medians.recording = steps.recording
            AND medians.pid = steps.pid
            AND medians.tid = steps.tid
        CROSS JOIN thresholds
        WHERE steps.step > 1
            AND medians.steps >= thresholds.min_steps
            AND steps.dur_ns > medians.dur_ns + greatest(
                thresholds.min_deviations * 1.4826 * medians.deviation_ns,
                thresholds.min_excess * medians.dur_ns
            )
        GROUP BY ALL
    ),
    grown AS (
        SELECT
            slow.*,
            greatest(data_loading_ns, gpu_compute_ns, nccl_collective_ns, optimizer_step_ns, unknown_ns) AS most_ns
        FROM slow
        CROSS JOIN thresholds
        WHERE excess_ns >= thresholds.min_share * all_ns
    ),
    named AS (
        SELECT
            grown.*,
            CASE most_ns
                WHEN data_loading_ns THEN 'DataLoading'
                WHEN gpu_compute_ns THEN 'GpuCompute'
                WHEN nccl_collective_ns THEN 'NcclCollective'
                WHEN optimizer_step_ns THEN 'OptimizerStep'
                ELSE 'Unknown'
            END AS phase
        FROM grown
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- training thread
    slow_steps AS value, -- slow steps
    format('of {} steps', steps) AS unit, -- unit of value
    severity_of(excess_ns / all_ns) AS severity, -- high, medium or low
    round(excess_ns / steps / 1e6, 3) AS lost_ms_per_step, -- [ms] excess spread over all steps
    round(all_ns / greatest(all_ns - excess_ns, 1), 2) AS max_speedup, -- bound when slow steps took the median
    format('median {}, worst {} (step {}); {} of the {} over the median in {}',
        ms(median_ns), ms(worst_ns), worst_step, pct(least(most_ns / excess_ns, 1)), ms(excess_ns), phase)
        || '; ' || bound_text(all_ns / steps, excess_ns / steps) AS evidence, -- what it rests on
    CASE phase
        WHEN 'DataLoading' THEN 'look at the batches of these steps: outliers in size, or workers that were restarted'
        WHEN 'Unknown' THEN 'look at what runs between steps: checkpoint, evaluation, logging, garbage collection'
        ELSE 'look at what differs in these steps: shapes, recompilation, other load on the machine'
    END AS advice, -- what to try
    format('zernel-analyze sql {} "FROM steps ORDER BY dur_ns DESC LIMIT 10"', file_label(recording))
        AS next_command -- to see more
FROM named
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
