-- Ranks of all recordings: where each runs, how long its steps and their phases take, and how late it comes.
--
-- A rank is a process with training steps. Steps are those without warm-up. It is late by its median arrival at
-- collectives after the middle rank.
--
-- needs: steps, _step_counts, _process_info, recordings, rank_arrivals, collective_arrivals
-- dialect: common
CREATE TABLE rank_paces AS
WITH
    paces AS (
        SELECT
            steps.recording,
            steps.pid,
            count(*) AS steps,
            sum(steps.dur_ns) / count(*) AS step_ns,
            sum(steps.data_loading_ns) / count(*) AS data_loading_ns,
            sum(steps.gpu_compute_ns) / count(*) AS gpu_compute_ns,
            sum(steps.nccl_collective_ns) / count(*) AS nccl_collective_ns,
            sum(steps.optimizer_step_ns) / count(*) AS optimizer_step_ns,
            sum(steps.unknown_ns) / count(*) AS unknown_ns
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        WHERE steps.step_kind <> 'warmup'
        GROUP BY steps.recording, steps.pid
    ),
    lags AS (
        SELECT
            recording,
            pid,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY lag_ns) AS lag_ns,
            min(rank) FILTER (WHERE ranks_known) AS rank
        FROM rank_arrivals
        GROUP BY recording, pid
    ),
    lasts AS (
        SELECT late_recording AS recording, late_pid AS pid, count(*) AS times_last
        FROM collective_arrivals
        WHERE by_all AND late_rank IS NOT NULL
        GROUP BY late_recording, late_pid
    )
SELECT
    paces.recording, -- recording
    recordings.host, -- machine
    paces.pid, -- process
    nullif(info.job, '') AS job, -- where its ranks meet, if that is known
    coalesce(TRY_CAST(info.rank AS BIGINT), lags.rank) AS rank, -- rank in the job, or else in a communicator
    coalesce(
        TRY_CAST(info.local_rank AS BIGINT),
        row_number() OVER (PARTITION BY paces.recording ORDER BY lags.rank NULLS LAST, paces.pid) - 1
    ) AS local_rank, -- place on its machine, from 0
    TRY_CAST(info.world_size AS BIGINT) AS world_size, -- ranks of the job, as it was started
    paces.steps, -- steps without warm-up
    paces.step_ns, -- [ns] mean step
    paces.data_loading_ns, -- [ns] of it waiting for data
    paces.gpu_compute_ns, -- [ns] of it in compute and waits for the GPU
    paces.nccl_collective_ns, -- [ns] of it in NCCL calls and waits for collectives
    paces.optimizer_step_ns, -- [ns] of it in the optimizer
    paces.unknown_ns, -- [ns] of it in anything else
    CAST(round(lags.lag_ns) AS BIGINT)
        AS lag_ns, -- [ns] after the middle rank at collectives, median; below 0 where before
    coalesce(lasts.times_last, 0) AS times_last -- collectives to which it came last of all
FROM paces
JOIN recordings ON recordings.recording = paces.recording
LEFT JOIN _process_info AS info ON info.recording = paces.recording AND info.pid = paces.pid
LEFT JOIN lags ON lags.recording = paces.recording AND lags.pid = paces.pid
LEFT JOIN lasts ON lasts.recording = paces.recording AND lasts.pid = paces.pid
