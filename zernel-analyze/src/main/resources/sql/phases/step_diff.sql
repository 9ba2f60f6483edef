-- What is compared of each step, before and after: one row per step and measure.
--
-- Recordings of side 0 are *before*, those of side 1 *after*. Steps are those of each process's training thread with
-- the most; warm-up is left out. So is what is not known of a step, as its launches where it is not detailed.
--
-- needs: files, steps, step_work, _ranked, _rank_jobs
CREATE TABLE _diff_steps AS
WITH
    jobs AS (
        SELECT ranked.recording, ranked.pid, jobs.job
        FROM _ranked AS ranked
        JOIN _rank_jobs AS jobs ON jobs.recording = ranked.recording AND jobs.pid = ranked.pid
    ),
    measured AS (
        SELECT
            files.side,
            steps.recording,
            steps.pid,
            steps.step,
            coalesce(jobs.job, concat_ws(' ', 'recording', steps.recording, 'process', steps.pid)) AS job,
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
        LEFT JOIN jobs ON jobs.recording = steps.recording AND jobs.pid = steps.pid
        WHERE steps.step_kind <> 'warmup'
    )
SELECT
    side, -- 0 before, 1 after
    recording, -- recording
    pid, -- process
    job, -- the same text for all ranks of a job
    step, -- number of the step
    of_step.position AS position, -- order of the measures
    of_step.measure AS measure, -- what was measured
    of_step.unit AS unit, -- ns, bytes, or empty for a number
    CAST(of_step.value AS DOUBLE) AS value -- [unit] how much
FROM measured
WHERE of_step.value IS NOT NULL;

-- Steps of two jobs compared, measure by measure: did it change, by how much, and how sure is that.
--
-- `shift` is the Hodges-Lehmann estimate: the median of all differences between a step after and a step before, with
-- its 95 % confidence interval. `p_value` is that of the Mann-Whitney test (two-sided, normal approximation, ties
-- corrected), which assumes no distribution, and not below that of the rarest order of so few steps. Both count steps
-- that resemble the one before them as fewer, by their correlation, which fewer than ten steps do not tell:
-- neighbouring steps are no independent samples. Nor are those of the ranks of a job, which wait for each other: a step
-- counts once, whatever the number of ranks. Up to 500 steps a side, evenly spaced by size, make the differences. A
-- measure that is zero in every step, or known of no step of a side, has no row.
--
-- Few long steps change the mean and hardly any of that: its interval is that of the normal approximation.
--
-- needs: _diff_steps
CREATE TABLE step_diff AS
WITH
    ranked AS (
        SELECT
            position,
            measure,
            unit,
            side,
            recording,
            pid,
            job,
            value,
            rank() OVER (PARTITION BY measure ORDER BY value)
                + (count(*) OVER (PARTITION BY measure, value) - 1) / 2.0 AS place,
            count(*) OVER (PARTITION BY measure, value) AS ties,
            lag(value) OVER (PARTITION BY measure, side, recording, pid ORDER BY step) AS value_before,
            row_number() OVER (PARTITION BY measure, side ORDER BY value) - 1 AS nth,
            count(*) OVER (PARTITION BY measure, side) AS steps
        FROM _diff_steps
    ),
    sums AS (
        SELECT
            measure,
            side,
            count(*) AS steps,
            count(DISTINCT job) / count(DISTINCT (recording, pid)) AS jobs_share,
            avg(value) AS mean,
            var_samp(value) AS variance,
            quantile_cont(value, [0.5, 0.9, 0.99]) AS q,
            sum(place) AS places,
            corr(value, value_before) AS correlation
        FROM ranked
        GROUP BY ALL
    ),
    sides AS (
        SELECT
            measure,
            side,
            steps,
            mean,
            variance,
            q,
            places,
            -- Equal steps have no correlation; opposed ones count no more than independent ones.
            greatest(
                steps * jobs_share * CASE
                    WHEN steps >= 10 AND isfinite(correlation) AND correlation > 0
                        THEN (1 - correlation) / (1 + correlation)
                    ELSE 1
                END,
                2
            ) AS samples
        FROM sums
    ),
    measures AS (
        SELECT
            position,
            measure,
            unit,
            1 - sum(ties * ties - 1) / (pow(count(*), 3) - count(*)) AS untied
        FROM ranked
        GROUP BY ALL
        HAVING max(abs(value)) > 0
    ),
    -- P(after > before) + P(equal) / 2, and its standard deviation where nothing changed.
    tests AS (
        SELECT
            measures.position,
            measures.measure,
            measures.unit,
            b.steps AS before_steps,
            a.steps AS after_steps,
            b.mean AS before_mean,
            a.mean AS after_mean,
            sqrt(a.variance / a.samples + b.variance / b.samples) AS mean_deviation,
            b.q AS before_q,
            a.q AS after_q,
            (a.places - a.steps * (a.steps + 1) / 2.0) / (CAST(a.steps AS DOUBLE) * b.steps) AS superiority,
            sqrt(measures.untied * (a.samples + b.samples + 1) / (12 * a.samples * b.samples)) AS deviation,
            -- Of all orders of so many steps, those in which all after are longer, or all shorter, are two.
            2 * exp(lgamma(a.samples + 1) + lgamma(b.samples + 1) - lgamma(a.samples + b.samples + 1)) AS least_p
        FROM measures
        JOIN sides AS b ON b.measure = measures.measure AND b.side = 0
        JOIN sides AS a ON a.measure = measures.measure AND a.side = 1
    ),
    thinned AS (
        SELECT measure, side, value
        FROM ranked
        WHERE steps <= 500 OR nth * 500 // steps <> (nth - 1) * 500 // steps
    ),
    differences AS (
        SELECT a.measure, list(a.value - b.value ORDER BY a.value - b.value) AS sorted
        FROM thinned AS a
        JOIN thinned AS b ON b.measure = a.measure AND b.side = 0
        WHERE a.side = 1
        GROUP BY ALL
    ),
    estimates AS (
        SELECT
            tests.position,
            tests.measure,
            tests.unit,
            tests.before_steps,
            tests.after_steps,
            tests.before_mean,
            tests.after_mean,
            tests.mean_deviation,
            tests.before_q,
            tests.after_q,
            tests.superiority,
            list_median(differences.sorted) AS shift,
            _quantile(differences.sorted, 0.5 - 1.96 * tests.deviation) AS low,
            _quantile(differences.sorted, 0.5 + 1.96 * tests.deviation) AS high,
            CASE
                WHEN tests.deviation > 0
                    THEN greatest(2 * _normal_tail(abs(tests.superiority - 0.5) / tests.deviation), tests.least_p)
                ELSE 1.0
            END AS p_value
        FROM tests
        JOIN differences ON differences.measure = tests.measure
    )
SELECT
    measure, -- step, a phase, or what a step did
    unit, -- of the values: ns, bytes, or empty for a number
    before_steps, -- steps before of which it is known
    after_steps, -- steps after of which it is known
    before_mean, -- [unit] mean before
    after_mean, -- [unit] mean after
    after_mean - before_mean - 1.96 * mean_deviation
        AS mean_low, -- [unit] lower end of the 95 % confidence interval of the change of the mean
    after_mean - before_mean + 1.96 * mean_deviation AS mean_high, -- [unit] upper end
    before_q[1] AS before_p50, -- [unit] median before
    after_q[1] AS after_p50, -- [unit] median after
    before_q[2] AS before_p90, -- [unit] 90th percentile before
    after_q[2] AS after_p90, -- [unit] 90th percentile after
    before_q[3] AS before_p99, -- [unit] 99th percentile before
    after_q[3] AS after_p99, -- [unit] 99th percentile after
    shift, -- [unit] by how much a step after typically exceeds one before
    low, -- [unit] lower end of its 95 % confidence interval
    high, -- [unit] upper end
    shift / nullif(before_q[1], 0) AS shift_share, -- shift as a share of the median before
    superiority, -- how often a step after exceeds one before, 0 to 1; 0.5 is no difference
    p_value, -- how often chance alone makes a difference like this
    CASE
        WHEN p_value >= 0.05 THEN 'same'
        WHEN p_value >= 0.01 THEN 'unsure'
        WHEN superiority > 0.5 THEN 'more'
        ELSE 'less'
    END AS verdict -- more or less where p_value is below 0.01, unsure up to 0.05, else same
FROM estimates
ORDER BY position
