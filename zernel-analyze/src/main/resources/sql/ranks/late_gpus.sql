-- Ranks whose GPU comes last to collectives, by what GPUs did: one row per process of a job that has several.
--
-- A collective runs on a GPU from when its rank has arrived until the last one has, so where ranks do as much, the rank
-- that communicates for the least time came last. The n-th steps of all ranks are compared; what begins on a GPU counts
-- to the step that its process has begun last. A rank is late in a step where it communicates least of all, and the
-- others for a hundredth of a step longer. They wait for it at least as long as each of them has more communication
-- that no computation hides. Where ranks mostly send to one another, as stages of a pipeline do, a receive runs beside
-- computation until something comes, so only communication that none hides is compared: the slow stage has least.
-- Clocks are not compared. Ranks whose traces are not opened may be later still. Steps in which a GPU communicates in
-- no trace do not count.
--
-- needs: _gpu_spans, gpu_time, gpu_kernels, _step_spans, step_mean, _trained, _rank_jobs, _process_info, _rare_events
CREATE VIEW late_gpus AS
WITH
    constants AS (
        SELECT
            0.01 AS min_late, -- of a step, that others communicate longer
            0.5 AS min_sent -- of communication, from one rank to another, from which on that is mostly it
    ),
    sent AS (
        SELECT
            recording,
            pid,
            device,
            coalesce(sum(sum_ns) FILTER (WHERE contains(name, 'SendRecv')), 0) / sum(sum_ns) AS share
        FROM gpu_kernels
        WHERE work = 'communication'
        GROUP BY ALL
    ),
    -- An all-to-all is made of sends, too.
    calls AS (
        SELECT
            recording,
            pid,
            bool_or(regexp_matches(name, 'send|recv|coalesced', 'i'))
                AND NOT bool_or(regexp_matches(name, 'all_?to_?all', 'i')) AS sends
        FROM _rare_events
        WHERE kind = 'nccl'
        GROUP BY ALL
    ),
    -- Of several GPUs of a process the one that communicates most.
    devices AS (
        SELECT gpu_time.recording, gpu_time.pid, gpu_time.device, coalesce(jobs.job, '') AS job
        FROM gpu_time
        JOIN _trained AS trained ON trained.recording = gpu_time.recording AND trained.pid = gpu_time.pid
        LEFT JOIN _rank_jobs AS jobs ON jobs.recording = gpu_time.recording AND jobs.pid = gpu_time.pid
        WHERE gpu_time.communication_ns > 0
        QUALIFY row_number() OVER (
            PARTITION BY gpu_time.recording, gpu_time.pid
            ORDER BY gpu_time.communication_ns DESC, gpu_time.device
        ) = 1
    ),
    ranks AS (
        SELECT
            devices.*,
            count(*) OVER in_job AS ranks,
            bool_and(coalesce(sent.share >= constants.min_sent AND calls.sends, FALSE)) OVER in_job AS is_pipeline
        FROM devices
        CROSS JOIN constants
        LEFT JOIN sent
            ON sent.recording = devices.recording
            AND sent.pid = devices.pid
            AND sent.device = devices.device
        LEFT JOIN calls ON calls.recording = devices.recording AND calls.pid = devices.pid
        WINDOW in_job AS (PARTITION BY devices.job)
        QUALIFY count(*) OVER in_job > 1
    ),
    numbered AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.from_ns,
            spans.trains,
            row_number() OVER (PARTITION BY spans.recording, spans.pid ORDER BY spans.from_ns) AS number
        FROM _step_spans AS spans
        JOIN ranks ON ranks.recording = spans.recording AND ranks.pid = spans.pid
    ),
    shown AS (
        SELECT spans.*
        FROM _gpu_spans AS spans
        JOIN ranks
            ON ranks.recording = spans.recording
            AND ranks.pid = spans.pid
            AND ranks.device = spans.device
        WHERE spans.compute OR spans.communication
    ),
    worked AS (
        SELECT
            shown.recording,
            shown.pid,
            numbered.number,
            coalesce(sum(shown.dur_ns) FILTER (WHERE shown.compute), 0) AS compute_ns,
            coalesce(sum(shown.dur_ns) FILTER (WHERE shown.communication), 0) AS communication_ns,
            coalesce(sum(shown.dur_ns) FILTER (WHERE NOT shown.compute), 0) AS exposed_ns
        FROM shown
        ASOF JOIN numbered
            ON numbered.recording = shown.recording
            AND numbered.pid = shown.pid
            AND numbered.from_ns <= shown.start_ns
        WHERE numbered.trains
        GROUP BY ALL
    ),
    waited AS (
        SELECT
            worked.* EXCLUDE (communication_ns),
            worked.communication_ns AS any_ns,
            CASE WHEN ranks.is_pipeline THEN worked.exposed_ns ELSE worked.communication_ns END AS communication_ns,
            ranks.job,
            ranks.ranks,
            ranks.is_pipeline
        FROM worked
        JOIN ranks ON ranks.recording = worked.recording AND ranks.pid = worked.pid
    ),
    compared AS (
        SELECT
            *,
            row_number() OVER by_communication AS place,
            lead(communication_ns) OVER by_communication - communication_ns AS more_ns,
            min(exposed_ns) OVER after_it - exposed_ns AS least_ns,
            max(exposed_ns) OVER after_it - exposed_ns AS most_ns,
            (sum(compute_ns) OVER in_step - compute_ns) / (ranks - 1) AS others_compute_ns,
            (sum(compute_ns + exposed_ns) OVER in_step - compute_ns - exposed_ns) / (ranks - 1) AS others_busy_ns
        FROM waited
        WINDOW
            in_step AS (PARTITION BY job, number),
            by_communication AS (PARTITION BY job, number ORDER BY communication_ns, recording, pid),
            after_it AS (
                PARTITION BY job, number
                ORDER BY communication_ns, recording, pid
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            )
        -- What was profiled of a step in part says nothing.
        QUALIFY count(*) OVER in_step = ranks AND min(any_ns) OVER in_step > 0
    ),
    judged AS (
        SELECT
            compared.*,
            trained.tid,
            trained.train_ns AS step_ns,
            place = 1 AND least(more_ns, least_ns) >= constants.min_late * trained.train_ns AS is_late,
            bool_or(is_late) OVER (PARTITION BY compared.job, compared.number) AS anyone_is_late
        FROM compared
        JOIN _trained AS trained ON trained.recording = compared.recording AND trained.pid = compared.pid
        CROSS JOIN constants
    ),
    kernels AS (
        SELECT recording, pid, device, sum(runs) AS runs
        FROM gpu_kernels
        WHERE work = 'compute'
        GROUP BY ALL
    ),
    means AS (
        SELECT
            ranks.recording,
            ranks.pid,
            (ranks.ranks * step_mean.data_loading_ns - sum(step_mean.data_loading_ns) OVER (PARTITION BY ranks.job))
                / (ranks.ranks - 1) AS data_more_ns,
            kernels.runs / trained.steps AS kernels,
            (sum(kernels.runs / trained.steps) OVER (PARTITION BY ranks.job) - kernels.runs / trained.steps)
                / (ranks.ranks - 1) AS others_kernels
        FROM ranks
        JOIN _trained AS trained ON trained.recording = ranks.recording AND trained.pid = ranks.pid
        JOIN step_mean
            ON step_mean.recording = trained.recording
            AND step_mean.pid = trained.pid
            AND step_mean.tid = trained.tid
        LEFT JOIN kernels
            ON kernels.recording = ranks.recording
            AND kernels.pid = ranks.pid
            AND kernels.device = ranks.device
    )
SELECT
    judged.recording, -- recording
    judged.pid, -- process
    any_value(judged.tid) AS tid, -- its training thread
    any_value(judged.job) AS job, -- what is the same for all ranks of a job
    any_value(judged.ranks) AS ranks, -- ranks of it whose GPU communicates in a trace that is opened
    any_value(TRY_CAST(info.world_size AS BIGINT)) AS world_size, -- ranks that the job has; NULL if not known
    count(*) AS steps, -- steps of kind train that all of these have
    any_value(judged.step_ns) AS step_ns, -- [ns] mean of them
    count(*) FILTER (WHERE judged.is_late) AS times_late, -- steps in which it is late
    count(*) FILTER (WHERE judged.anyone_is_late) AS times, -- steps in which any rank is late
    sum(CASE WHEN judged.is_late THEN judged.least_ns ELSE 0 END) / count(*)
        AS late_ns, -- [ns] of a mean step that all others communicate longer, with no computation meanwhile
    sum(CASE WHEN judged.is_late THEN judged.most_ns ELSE 0 END) / count(*)
        AS most_late_ns, -- [ns] the same of the one that does longest
    avg(judged.communication_ns)
        AS communication_ns, -- [ns] of a mean step that its GPU communicates; in a pipeline while it computes nothing
    any_value(judged.is_pipeline) AS is_pipeline, -- whether ranks mostly send to one another
    avg(judged.compute_ns) AS compute_ns, -- [ns] that its GPU computes
    avg(judged.others_compute_ns) AS others_compute_ns, -- [ns] that the others do, mean
    avg(judged.others_busy_ns - judged.compute_ns - judged.exposed_ns)
        AS idle_more_ns, -- [ns] that its GPU is idle longer than the others; negative if shorter
    any_value(means.data_more_ns) AS data_more_ns, -- [ns] that it waits longer for data than the others
    any_value(means.kernels) AS kernels, -- kernels per step, without collectives
    any_value(means.others_kernels) AS others_kernels -- the same of the others, mean
FROM judged
JOIN means ON means.recording = judged.recording AND means.pid = judged.pid
LEFT JOIN _process_info AS info ON info.recording = judged.recording AND info.pid = judged.pid
GROUP BY judged.recording, judged.pid
ORDER BY judged.recording, judged.pid
