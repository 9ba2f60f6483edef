-- PyTorch's profiler runs in the job. While it is on, a step takes longer, and so do those in which it begins and ends.
--
-- Counted is what the median step takes longer while it is on, where there are steps without it to compare with, and,
-- of three profiles and more, the time over the median of the steps in which they begin, end and are written. One or
-- two profiles are what somebody wants to see. Where it is on in nearly all steps, what it costs cannot be told.
--
-- needs: steps, profiler_runs
-- severity: high from 25 % of step time, medium from 10 %; medium where it is on in most steps at a cost unknown
-- hint: the view profiler_runs has each profile; steps of kind profiler are in no mean
-- lines: these steps WHERE thread = 'training' AND step_class = 'profiler'
WITH
    thresholds AS (
        SELECT
            3 AS min_repeats, -- profiles whose begins and ends are a cost of the training
            5 AS min_steps, -- with it and without it, to compare them
            0.5 AS most -- share of steps with it that are nearly all
    ),
    counted AS (
        SELECT recording, pid, count(*) AS profiles
        FROM profiler_runs
        GROUP BY ALL
    ),
    -- Profiles of a process follow each other, so the last one that was on before a step is the one that may be on.
    runs AS (
        SELECT recording, pid, coalesce(on_ns, 0) AS on_ns, off_ns
        FROM profiler_runs
    ),
    trained AS (
        SELECT recording, pid, tid, step_kind, start_ns, end_ns, dur_ns
        FROM steps
        SEMI JOIN runs ON runs.recording = steps.recording AND runs.pid = steps.pid
        WHERE step_kind IN ('train', 'profiler')
    ),
    marked AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            trained.step_kind,
            trained.dur_ns,
            trained.step_kind = 'train'
                AND runs.on_ns IS NOT NULL
                AND trained.end_ns <= coalesce(runs.off_ns, trained.end_ns) AS is_on
        FROM trained
        ASOF LEFT JOIN runs
            ON runs.recording = trained.recording
            AND runs.pid = trained.pid
            AND runs.on_ns <= trained.start_ns
    ),
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS steps,
            avg(dur_ns) AS step_ns,
            avg(dur_ns) FILTER (step_kind = 'train') AS train_ns,
            count(CASE WHEN is_on THEN 1 END) AS on_steps,
            count(CASE WHEN NOT is_on AND step_kind = 'train' THEN 1 END) AS off_steps,
            median(dur_ns) FILTER (is_on) AS on_ns,
            median(dur_ns) FILTER (NOT is_on AND step_kind = 'train') AS off_ns,
            count(CASE WHEN step_kind = 'profiler' THEN 1 END) AS own_steps,
            coalesce(sum(CASE WHEN step_kind = 'profiler' THEN dur_ns END), 0) AS own_ns,
            median(dur_ns) FILTER (step_kind = 'train') AS median_ns
        FROM marked
        GROUP BY recording, pid, tid
    ),
    costs AS (
        SELECT
            sums.*,
            counted.profiles,
            CASE
                WHEN sums.on_steps >= thresholds.min_steps AND sums.off_steps >= thresholds.min_steps
                    THEN sums.on_steps * greatest(sums.on_ns - sums.off_ns, 0)
            END AS on_lost_ns,
            CASE
                WHEN counted.profiles >= thresholds.min_repeats
                    THEN greatest(sums.own_ns - sums.own_steps * coalesce(sums.off_ns, sums.median_ns), 0)
            END AS own_lost_ns
        FROM sums
        JOIN counted ON counted.recording = sums.recording AND counted.pid = sums.pid
        CROSS JOIN thresholds
    ),
    told AS (
        SELECT
            costs.* EXCLUDE (step_ns),
            CASE WHEN own_lost_ns IS NULL THEN train_ns ELSE step_ns END AS step_ns,
            CASE WHEN own_lost_ns IS NULL THEN on_lost_ns / (steps - own_steps)
                ELSE (coalesce(on_lost_ns, 0) + own_lost_ns) / steps
            END AS lost_ns
        FROM costs
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    on_steps AS value, -- steps while it is on
    format('of {} steps', steps) AS unit, -- unit of value
    CASE
        WHEN on_lost_ns IS NULL AND on_steps >= thresholds.most * steps THEN 'medium'
        WHEN lost_ns IS NULL THEN 'low'
    END AS severity, -- where it is not that by the share of a step
    step_ns, -- [ns] step; with those in which it begins and ends, where these are counted
    lost_ns, -- [ns] lost per step; NULL where that cannot be told
    lost_ns AS bound_ns, -- [ns] saved at most
    format('{} profile{}', profiles, CASE WHEN profiles = 1 THEN '' ELSE 's' END)
        || CASE
            WHEN own_steps = 0 THEN ''
            ELSE format('; {} step{} in which {} begin{}, end{} or {} written take{} {} in the mean', own_steps,
                CASE WHEN own_steps = 1 THEN '' ELSE 's' END,
                CASE WHEN profiles = 1 THEN 'it' ELSE 'they' END,
                CASE WHEN profiles = 1 THEN 's' ELSE '' END,
                CASE WHEN profiles = 1 THEN 's' ELSE '' END,
                CASE WHEN profiles = 1 THEN 'is' ELSE 'are' END,
                CASE WHEN own_steps = 1 THEN 's' ELSE '' END,
                ms(own_ns / own_steps))
        END
        || CASE
            WHEN on_lost_ns IS NOT NULL
                THEN format('; the median step takes {} while it is on, {} without it', ms(on_ns), ms(off_ns))
            WHEN on_steps > 0
                THEN '; too few steps without it to tell what it costs while it is on'
            ELSE ''
        END
        || '; ' AS evidence, -- what it rests on
    'profile some steps of a job and no more: torch.profiler.schedule(..., repeat=1); with_stack, record_shapes and '
    || 'profile_memory cost most' AS advice, -- what to try
    'zernel-analyze sql {} "FROM profiler_runs"' AS next_command -- to see more
FROM told
CROSS JOIN thresholds
WHERE on_steps > 0 OR own_steps > 0
