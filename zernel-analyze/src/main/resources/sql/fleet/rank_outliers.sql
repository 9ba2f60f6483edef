-- Ranks that differ from those of their job: that come later, or take longer for a phase of the step.
--
-- Usual is the median of the job's ranks, and what is usual to deviate from it is the median of the deviations. The
-- phase in which a rank waits for the others is not compared: it is short in the rank that is late.
--
-- needs: rank_paces
-- dialect: common
CREATE VIEW rank_outliers AS
WITH
    thresholds AS (
        SELECT
            4 AS min_ranks, -- ranks of a job
            6 AS min_deviations, -- median deviations over the median, scaled as standard deviations
            0.02 AS min_share -- and this share of a step
    ),
    measured AS (
        SELECT
            recording,
            pid,
            coalesce(job, '') AS job,
            step_ns,
            'lag_ns' AS measure,
            CAST(lag_ns AS DOUBLE) AS value_ns
        FROM rank_paces
        UNION ALL
        SELECT recording, pid, coalesce(job, ''), step_ns, 'data_loading_ns', data_loading_ns
        FROM rank_paces
        UNION ALL
        SELECT recording, pid, coalesce(job, ''), step_ns, 'gpu_compute_ns', gpu_compute_ns
        FROM rank_paces
        UNION ALL
        SELECT recording, pid, coalesce(job, ''), step_ns, 'optimizer_step_ns', optimizer_step_ns
        FROM rank_paces
        UNION ALL
        SELECT recording, pid, coalesce(job, ''), step_ns, 'unknown_ns', unknown_ns
        FROM rank_paces
    ),
    medians AS (
        SELECT
            job,
            measure,
            count(value_ns) AS ranks,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY value_ns) AS median_ns
        FROM measured
        GROUP BY job, measure
    ),
    deviations AS (
        SELECT
            measured.job,
            measured.measure,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(measured.value_ns - medians.median_ns)) AS mad_ns
        FROM measured
        JOIN medians ON medians.job = measured.job AND medians.measure = measured.measure
        GROUP BY measured.job, measured.measure
    )
SELECT
    measured.recording, -- recording
    ranks.host, -- machine
    measured.pid, -- process
    ranks.rank, -- rank in the job, or else in a communicator
    measured.measure, -- column of rank_paces
    measured.value_ns, -- [ns] what it is in this rank
    medians.median_ns, -- [ns] median of the job's ranks
    deviations.mad_ns, -- [ns] median deviation of ranks from it
    medians.ranks, -- ranks that were compared
    (measured.value_ns - medians.median_ns) / (1.4826 * greatest(deviations.mad_ns, 1))
        AS score, -- median deviations over the median, scaled as standard deviations
    measured.step_ns -- [ns] mean step of the rank
FROM measured
JOIN medians ON medians.job = measured.job AND medians.measure = measured.measure
JOIN deviations ON deviations.job = measured.job AND deviations.measure = measured.measure
JOIN rank_paces AS ranks ON ranks.recording = measured.recording AND ranks.pid = measured.pid
CROSS JOIN thresholds
WHERE medians.ranks >= thresholds.min_ranks
    AND measured.value_ns - medians.median_ns >= thresholds.min_deviations * 1.4826 * greatest(deviations.mad_ns, 1)
    AND measured.value_ns - medians.median_ns >= thresholds.min_share * measured.step_ns
ORDER BY measured.value_ns - medians.median_ns DESC, measured.recording, measured.pid, measured.measure
