-- Ranks take turns in being late. Each step waits for the slowest of them, which is another one each time.
--
-- In a step all ranks wait for the one that has most to do. The mean of these waits is what a step would be shorter if
-- that work were shared out equally. Lost is as much of it as the late rank works, sleeps or waits for data longer than
-- the mean of the ranks does in the same step; time ready without a CPU does not count, nor more than the GPUs are
-- idle, where the driver's samples say that. Of the collectives of a step the one with the largest delay counts;
-- without NCCL, as with gloo, all its waits in torch.distributed.
-- Does not apply where one rank is the late one (nccl_straggler), where the rank that waits least waits for less than
-- half of the mean, nor where few steps are uneven, as by an evaluation or a checkpoint of one rank.
--
-- needs: late_steps, rank_arrivals, steps, _rank_work, gpu_busy, _job_steps, _step_costs, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze nccl --ranks shows how often each rank came last, and why
-- lines: the passes OF compute WHERE thread = 'training' AND part IN ('compute', 'forward', 'backward')
-- lines: that work OF other WHERE works AND NOT in_forward
-- lines: the sleep OF asleep WHERE thread = 'training' AND state = 'asleep' AND step_kind = 'train' AND NOT loads
-- lines: the loading OF data wait WHERE loads
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps with collectives, without warm-up
            0.1 AS min_lost, -- per step, as a share of step time
            0.05 AS min_delay, -- of a step in which a rank is late, as a share of step time
            0.8 AS max_last, -- of these steps, those in which one and the same rank is the last
            0.5 AS min_turns, -- wait of the rank that waits least, as a share of the mean of ranks
            0.3 AS min_often -- steps in which the last rank does more than the others, as a share of all
    ),
    late AS (
        SELECT
            late_steps.comm_id,
            late_steps.number,
            late_steps.late_rank,
            late_steps.recording,
            late_steps.pid,
            late_steps.tid,
            late_steps.step_ns,
            late_steps.skew_ns,
            avg(late_steps.step_ns) OVER (PARTITION BY late_steps.comm_id) AS mean_step_ns,
            steps.job,
            steps.number AS step
        FROM late_steps
        JOIN _job_steps AS steps
            ON steps.recording = late_steps.recording
            AND steps.pid = late_steps.pid
            AND steps.step = late_steps.step
        WHERE late_steps.step_kind = 'train'
    ),
    waits AS (
        SELECT
            late.comm_id,
            late.number,
            arrivals.recording,
            arrivals.pid,
            CASE
                WHEN late.late_rank IS NULL THEN 0
                ELSE max(arrivals.at_ns) OVER (PARTITION BY late.comm_id, late.number) - arrivals.at_ns
            END AS wait_ns
        FROM late
        JOIN rank_arrivals AS arrivals ON arrivals.comm_id = late.comm_id AND arrivals.number = late.number
    ),
    waiting AS (
        SELECT comm_id, count(*) AS ranks, avg(wait_ns) AS wait_ns, min(wait_ns) AS least_ns
        FROM (SELECT comm_id, recording, pid, avg(wait_ns) AS wait_ns FROM waits GROUP BY ALL)
        GROUP BY comm_id
    ),
    lasts AS (
        SELECT
            late.comm_id,
            late.recording,
            late.pid,
            any_value(late.tid) AS tid,
            any_value(late.job) AS job,
            count(*) AS times,
            sum(late.skew_ns) AS skew_ns
        FROM late
        CROSS JOIN thresholds
        WHERE late.late_rank IS NOT NULL AND late.skew_ns >= thresholds.min_delay * late.mean_step_ns
        GROUP BY late.comm_id, late.recording, late.pid
    ),
    turns AS (
        SELECT
            comm_id,
            any_value(job) AS job,
            sum(times) AS times,
            max(times) AS most_times,
            arg_max({'recording': recording, 'pid': pid, 'tid': tid}, skew_ns) AS rank
        FROM lasts
        GROUP BY comm_id
    ),
    -- What each rank spends in a step on its own.
    own AS (
        SELECT
            costs.recording,
            costs.pid,
            jobs.job,
            jobs.number AS step,
            steps.data_loading_ns AS data_ns,
            costs.asleep_ns,
            costs.compute_ns,
            costs.unknown_ns AS other_ns,
            costs.runq_ns,
            steps.data_loading_ns + costs.asleep_ns + costs.compute_ns + costs.unknown_ns AS own_ns
        FROM _step_costs AS costs
        JOIN steps
            ON steps.recording = costs.recording
            AND steps.pid = costs.pid
            AND steps.tid = costs.tid
            AND steps.step = costs.step
        JOIN _job_steps AS jobs
            ON jobs.recording = costs.recording
            AND jobs.pid = costs.pid
            AND jobs.step = costs.step
    ),
    -- How much more of it than the mean of ranks the one has that comes last.
    more AS (
        SELECT
            recording,
            pid,
            step,
            data_ns - avg(data_ns) OVER same_step AS data_ns,
            asleep_ns - avg(asleep_ns) OVER same_step AS asleep_ns,
            compute_ns - avg(compute_ns) OVER same_step AS compute_ns,
            other_ns - avg(other_ns) OVER same_step AS other_ns,
            own_ns - avg(own_ns) OVER same_step - greatest(runq_ns - avg(runq_ns) OVER same_step, 0) AS more_ns
        FROM own
        WINDOW same_step AS (PARTITION BY job, step)
    ),
    sums AS (
        SELECT
            late.comm_id,
            count(*) AS steps,
            avg(late.step_ns) AS step_ns,
            coalesce(sum(more.more_ns), 0) / count(*) AS more_ns,
            coalesce(sum(more.data_ns), 0) / count(*) AS data_ns,
            coalesce(sum(more.asleep_ns), 0) / count(*) AS asleep_ns,
            coalesce(sum(more.compute_ns), 0) / count(*) AS compute_ns,
            coalesce(sum(more.other_ns), 0) / count(*) AS other_ns,
            count(CASE WHEN more.more_ns >= thresholds.min_delay * late.mean_step_ns THEN 1 END) AS uneven_steps
        FROM late
        LEFT JOIN more
            ON more.recording = late.recording
            AND more.pid = late.pid
            AND more.step = late.step
            AND late.late_rank IS NOT NULL
        CROSS JOIN thresholds
        GROUP BY late.comm_id
    ),
    limits AS (
        SELECT ranks.comm_id, avg(works.work_ns) AS work_ns, avg(gpu_busy.idle_ns) AS idle_ns
        FROM (SELECT DISTINCT comm_id, recording, pid FROM waits) AS ranks
        LEFT JOIN _rank_work AS works ON works.recording = ranks.recording AND works.pid = ranks.pid
        LEFT JOIN gpu_busy ON gpu_busy.recording = ranks.recording AND gpu_busy.pid = ranks.pid
        GROUP BY ranks.comm_id
    ),
    uneven AS (
        SELECT
            turns.job,
            turns.rank,
            turns.times,
            turns.most_times,
            waiting.ranks,
            waiting.wait_ns,
            waiting.least_ns,
            sums.steps,
            sums.step_ns,
            sums.uneven_steps,
            least(waiting.wait_ns, sums.step_ns - coalesce(limits.work_ns, 0), limits.idle_ns) AS bound_ns,
            least(bound_ns, sums.more_ns) AS lost_ns,
            CASE greatest(sums.compute_ns, sums.data_ns, sums.asleep_ns, sums.other_ns)
                WHEN sums.compute_ns THEN 'compute'
                WHEN sums.data_ns THEN 'data wait'
                WHEN sums.asleep_ns THEN 'asleep'
                ELSE 'other'
            END AS cause,
            greatest(sums.compute_ns, sums.data_ns, sums.asleep_ns, sums.other_ns) AS cause_ns,
            row_number() OVER (PARTITION BY turns.job ORDER BY waiting.wait_ns DESC, turns.comm_id) AS place,
            (SELECT count(DISTINCT job) FROM turns) AS jobs
        FROM turns
        JOIN waiting ON waiting.comm_id = turns.comm_id
        JOIN sums ON sums.comm_id = turns.comm_id
        JOIN limits ON limits.comm_id = turns.comm_id
    ),
    -- What is said of a cause, `{}` for its time, and what to try.
    causes AS (
        SELECT cause, evidence, advice
        FROM (VALUES
            ('compute', 'its forward, backward and optimizer then take {} longer on the CPU than the mean of ranks',
                'give all ranks equal work in each step: sort or bucket by length, pad to one length, drop odd ones'),
            ('data wait', 'it then waits {} longer for data than the mean of ranks',
                'look at which batches are slow to load; more of them ahead make up for it (prefetch_factor)'),
            ('asleep', 'it is then asleep for {} longer than the mean of ranks, not waiting for data or ranks',
                'find what the ranks wait for in turns: a lock, a file, a program, time.sleep'),
            ('other', 'it then spends {} more than the mean of ranks outside every recorded call',
                'look at what the ranks do in turns outside of calls: preparing batches of unequal length, logging')
        ) AS texts (cause, evidence, advice)
    )
SELECT
    uneven.rank.recording AS recording, -- recording of the rank that is waited for most
    uneven.rank.pid AS pid, -- its process
    uneven.rank.tid AS tid, -- its training thread
    CASE
        WHEN jobs = 1 THEN format('{} ranks', ranks)
        ELSE format('{} and {} more', thread_label(uneven.rank.recording, uneven.rank.pid, uneven.rank.tid), ranks - 1)
    END AS subject, -- all ranks; of several jobs, with the one that is waited for most
    wait_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] that the last rank has more to do than the mean of ranks
    bound_ns, -- [ns] saved at most, when all ranks come together
    format('mean of {} steps: {} of {} is the wait of a rank for the last one (mean of {}), ',
        steps, ms(wait_ns), ms(step_ns), ranks)
        || format('the rank that waits least waits {}; ', ms(least_ns))
        || format('they take turns: no rank is the last in more than {} of the {} steps in which one is late; ',
            pct(most_times / times), times)
        || replace(causes.evidence, '{}', ms(cause_ns)) || '; ' AS evidence, -- what it rests on
    causes.advice AS advice, -- what to try
    'zernel-analyze nccl --ranks {}' AS next_command, -- to see more
    uneven.cause -- compute, data wait, asleep or other
FROM uneven
JOIN causes ON causes.cause = uneven.cause
CROSS JOIN thresholds
WHERE place = 1
    AND steps >= min_steps
    AND lost_ns >= min_lost * step_ns
    AND most_times <= max_last * times
    AND least_ns >= min_turns * wait_ns
    AND uneven_steps >= min_often * steps
