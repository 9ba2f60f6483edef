-- How long training threads sleep by themselves in steps of kind train, but while data is made.
--
-- needs: _off_cpu_steps, steps
-- digest: kept
CREATE TABLE _sleeps AS
WITH
    sleeps AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            sum(blocked_ns) AS asleep_ns,
            count(*) AS sleeps,
            mode(call ORDER BY call) AS call
        FROM _off_cpu_steps
        WHERE state = 'asleep' AND part <> 'data_wait'
        GROUP BY ALL
    ),
    timed AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            steps.dur_ns,
            coalesce(sleeps.asleep_ns, 0) AS asleep_ns,
            sleeps.sleeps,
            sleeps.call,
            quantile_cont(steps.dur_ns, 0.9) OVER of_thread AS usual_dur_ns,
            quantile_cont(coalesce(sleeps.asleep_ns, 0), 0.9) OVER of_thread AS usual_asleep_ns
        FROM steps
        LEFT JOIN sleeps
            ON sleeps.recording = steps.recording
            AND sleeps.pid = steps.pid
            AND sleeps.tid = steps.tid
            AND sleeps.step = steps.step
        WHERE steps.step_kind = 'train'
        WINDOW of_thread AS (PARTITION BY steps.recording, steps.pid, steps.tid)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    count(*) AS steps, -- steps of kind train
    avg(least(dur_ns, usual_dur_ns)) AS step_ns, -- [ns] mean of them, the longest tenth as long as its shortest
    avg(least(asleep_ns, usual_asleep_ns)) AS asleep_ns, -- [ns] asleep, likewise
    avg(coalesce(sleeps, 0)) AS sleeps, -- sleeps of a mean one
    mode(call ORDER BY call) AS call -- system call of most; NULL without any
FROM timed
GROUP BY recording, pid, tid;

-- Of training threads that sleep, the thread of their process that is on a CPU for at least half of that.
--
-- needs: _off_cpu_steps, stack_events, stack_lines
-- digest: kept
CREATE TABLE _sleep_company AS
WITH
    thresholds AS (
        SELECT 0.5 AS company_share -- of the sleep, in which another thread is on a CPU, which is then named
    ),
    spans AS (
        SELECT recording, pid, tid AS sleeper_tid, start_ns AS from_ns, start_ns + blocked_ns AS until_ns
        FROM _off_cpu_steps
        WHERE state = 'asleep' AND part <> 'data_wait' AND step_kind = 'train'
    ),
    samples AS (
        SELECT events.recording, events.pid, events.tid, events.middle_ns AS at_ns, events.ns, lines.line
        FROM stack_events AS events
        JOIN stack_lines AS lines ON lines.id = events.id
        WHERE events.kind = 'sample' AND events.ns > 0
    ),
    -- Of each other thread of the process, where it is on a CPU meanwhile.
    others AS (
        SELECT recording, pid, sleeper_tid, tid, sum(ns) AS ns, arg_max(line, ns) AS line
        FROM (
            SELECT recording, pid, sleeper_tid, tid, line, sum(ns) AS ns
            FROM in_spans(samples, spans)
            WHERE tid <> sleeper_tid
            GROUP BY ALL
        )
        GROUP BY ALL
    )
SELECT
    others.recording, -- recording
    others.pid, -- process
    others.sleeper_tid AS tid, -- training thread
    arg_max(others.tid, others.ns) AS other_tid, -- the thread that is on a CPU for most of that time
    arg_max(others.line, others.ns) AS line, -- where, mostly
    least(max(others.ns) / any_value(sums.ns), 1) AS share -- of that time, 0 to 1
FROM others
JOIN (
    SELECT recording, pid, sleeper_tid, sum(until_ns - from_ns) AS ns
    FROM spans
    GROUP BY ALL
) AS sums
    ON sums.recording = others.recording
    AND sums.pid = others.pid
    AND sums.sleeper_tid = others.sleeper_tid
CROSS JOIN thresholds
GROUP BY others.recording, others.pid, others.sleeper_tid
HAVING max(others.ns) >= any_value(thresholds.company_share) * any_value(sums.ns);

-- The training thread sleeps by itself in its steps.
--
-- It polls, waits for a time, or limits its own rate. Counted is the mean step, of whose times the longest tenth counts
-- as its shortest, so that single long sleeps do not (slow_steps), without sleeps while data is made.
-- Lost is that time, at most as the GPU is idle by the driver's samples.
-- Does not apply where time off the CPU was not recorded, nor to one late rank of several (nccl_straggler).
--
-- needs: _sleeps, _sleep_company, gpu_busy, _lateness
-- severity: high from 25 % of step time, medium from 10 %
-- hint: py-spy dump --pid PID names the function that sleeps
-- lines: the sleep WHERE thread = 'training' AND state = 'asleep' AND step_kind = 'train' AND NOT loads
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            0.05 AS min_share, -- what can be saved, as a share of step time
            0.5 AS late_share -- of what is lost, by which a rank is late
    ),
    costs AS (
        SELECT
            means.*,
            least(means.asleep_ns, busy.idle_ns) AS lost_ns,
            least(means.asleep_ns, busy.most_idle_ns) AS bound_ns,
            busy.least_idle_ns,
            late.late_ns,
            company.other_tid,
            company.share,
            company.line
        FROM _sleeps AS means
        LEFT JOIN gpu_busy AS busy ON busy.recording = means.recording AND busy.pid = means.pid
        LEFT JOIN _lateness AS late ON late.recording = means.recording AND late.pid = means.pid
        LEFT JOIN _sleep_company AS company
            ON company.recording = means.recording
            AND company.pid = means.pid
            AND company.tid = means.tid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that sleeps
    asleep_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] asleep, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when it does not sleep
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps without what their longest tenth has more: {} of {} asleep in {}, {:.1f} times a step; ',
        steps, ms(asleep_ns), ms(step_ns), call, sleeps)
        || CASE
            WHEN other_tid IS NULL THEN ''
            ELSE format('thread {} of its process is on a CPU for {} of that time, by samples, mostly in {}; ',
                other_tid, pct(share), line)
        END AS evidence, -- what it rests on
    CASE
        WHEN other_tid IS NULL
            THEN 'take the sleep out of the training loop, '
                || 'or wait for what it waits for (an event, a condition) instead'
        ELSE 'if it waits for that thread: let it work a step ahead, or make its work shorter, '
            || 'and wait for an event or a condition; else take the sleep out of the training loop'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM thread_states"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps
    AND lost_ns >= thresholds.min_share * step_ns
    AND (late_ns >= thresholds.late_share * lost_ns) IS NOT TRUE
