-- The training thread waits for another process. It waits for an answer on a socket or a pipe, or for a process to end.
--
-- A server that is asked in each step, a queue that another process fills, or a command that is run. Counted is the
-- time in calls that blocked, with what they copy, without waiting for a CPU, in steps of kind train. Lost is that
-- time, at most as the GPU is idle by the driver's samples. To start a process takes time on the CPU, too: that is part
-- of the time between calls, which is saved at most.
-- Does not apply to waits for data workers (data_bound, worker_startup), for ranks and for the GPU, nor to waits for
-- other threads of the process (blocked_on_thread). Of a server it says how long it had no request, too.
--
-- needs: _off_cpu_steps, thread_states, _waited_processes, gpu_busy, _started_programs
-- severity: high from 25 % of step time, medium from 10 %
-- hint: ss -tnp and lsof -p PID name the other end
-- lines: the waits WHERE thread = 'training' AND is_blocked_on_process(part, state)
-- lines: what the other process does WHERE serves AND step_kind = 'train'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.03 AS min_share, -- what can be saved, as a share of step time
            0.5 AS each_step, -- processes that it started, per step, that end its waits: then it starts them anew
            0.5 AS few_steps, -- share of steps that hold most of the wait, up to which it waits now and then
            0.8 AS most_share -- share of the wait that these have to hold
    ),
    waits AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            blocked_ns,
            blocked_ns + call_cpu_ns AS call_ns,
            CASE
                WHEN state = 'pipe' THEN call || ' on a pipe'
                WHEN state = 'socket' THEN concat_ws(' ', call, 'on a', regexp_extract(object, '\] (\w+)', 1), 'socket')
                WHEN call LIKE 'wait%' THEN call || ' for a process to end'
                ELSE call || ' for a lock that processes share'
                    || CASE WHEN starts_with(object, '/') THEN format(' (''{}'')', object) ELSE '' END
            END AS cause,
            CASE
                WHEN call LIKE 'wait%' THEN 'end'
                WHEN regexp_matches(call, '^(send|write|pwrite)') THEN 'send'
                WHEN state = 'process' THEN 'lock'
                ELSE 'answer'
            END AS wants
        FROM _off_cpu_steps
        WHERE is_blocked_on_process(part, state) AND step_kind = 'train'
    ),
    causes AS (
        SELECT recording, pid, tid, cause, any_value(wants) AS wants, sum(call_ns) AS cause_ns
        FROM waits
        GROUP BY ALL
    ),
    most AS (
        SELECT
            recording,
            pid,
            tid,
            arg_max(cause, (cause_ns, cause)) AS cause,
            arg_max(wants, (cause_ns, cause)) AS wants,
            max(cause_ns) AS cause_ns
        FROM causes
        GROUP BY ALL
    ),
    by_step AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            sum(call_ns) AS wait_ns,
            sum(sum(call_ns)) OVER (PARTITION BY recording, pid, tid) AS all_ns
        FROM waits
        GROUP BY recording, pid, tid, step
    ),
    -- Steps that wait for as long as the mean of all, or longer.
    long_steps AS (
        SELECT
            by_step.recording,
            by_step.pid,
            by_step.tid,
            count(*) AS long_steps,
            sum(by_step.wait_ns) / any_value(by_step.all_ns) AS long_share
        FROM by_step
        JOIN thread_states AS trained
            ON trained.recording = by_step.recording AND trained.pid = by_step.pid AND trained.tid = by_step.tid
        WHERE by_step.wait_ns * trained.steps >= by_step.all_ns
        GROUP BY ALL
    ),
    waker AS (
        SELECT
            others.recording,
            others.pid,
            others.tid,
            arg_max(
                format('{} (pid {})', others.other_comm, others.other_pid),
                (others.waits, -others.other_pid)
            ) AS waker,
            max(others.waits) AS woken,
            count(*) AS wakers,
            count(started.pid) AS started
        FROM _waited_processes AS others
        LEFT JOIN _started_programs AS started
            ON started.recording = others.recording
            AND started.pid = others.other_pid
            AND started.training_pid = others.pid
        WHERE others.via = 'process'
        GROUP BY others.recording, others.pid, others.tid
    ),
    costs AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.tid,
            any_value(trained.steps) AS steps,
            any_value(trained.step_ns) AS step_ns,
            any_value(long_steps.long_steps) AS long_steps,
            any_value(long_steps.long_share) >= any_value(thresholds.most_share)
                AND any_value(long_steps.long_steps)
                    <= any_value(thresholds.few_steps) * any_value(trained.steps) AS now_and_then,
            sum(waits.call_ns) / any_value(trained.steps) AS wait_ns,
            sum(waits.blocked_ns) / any_value(trained.steps) AS blocked_ns,
            count(*) AS waits,
            median(waits.blocked_ns) AS p50_ns,
            max(waits.blocked_ns) AS longest_ns,
            any_value(most.cause) AS cause,
            any_value(waker.started) AS started,
            CASE
                WHEN any_value(waker.started) >= any_value(thresholds.each_step) * any_value(trained.steps) THEN 'end'
                ELSE any_value(most.wants)
            END AS wanted,
            any_value(most.cause_ns) / sum(waits.call_ns) AS cause_share,
            any_value(waker.waker) AS waker,
            any_value(waker.woken) AS woken,
            any_value(waker.wakers) AS wakers,
            least(sum(waits.call_ns) / any_value(trained.steps), any_value(busy.idle_ns)) AS lost_ns,
            CASE WHEN wanted = 'end' THEN any_value(trained.between_ns) END AS starting_ns,
            least(
                sum(waits.call_ns) / any_value(trained.steps) + coalesce(starting_ns, 0),
                any_value(busy.most_idle_ns)
            ) AS bound_ns,
            any_value(busy.least_idle_ns) AS least_idle_ns
        FROM waits
        JOIN thread_states AS trained
            ON trained.recording = waits.recording AND trained.pid = waits.pid AND trained.tid = waits.tid
        JOIN most ON most.recording = waits.recording AND most.pid = waits.pid AND most.tid = waits.tid
        JOIN long_steps
            ON long_steps.recording = waits.recording
            AND long_steps.pid = waits.pid
            AND long_steps.tid = waits.tid
        LEFT JOIN waker ON waker.recording = waits.recording AND waker.pid = waits.pid AND waker.tid = waits.tid
        LEFT JOIN gpu_busy AS busy ON busy.recording = waits.recording AND busy.pid = waits.pid
        CROSS JOIN thresholds
        GROUP BY waits.recording, waits.pid, waits.tid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    wait_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] in these calls, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when it never waits, and starts nothing
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} blocked in {} waits of {} (median)',
        steps, ms(blocked_ns), ms(step_ns), waits, ms(p50_ns))
        || CASE WHEN longest_ns >= 2 * p50_ns THEN format(', at most {}', ms(longest_ns)) ELSE '' END
        || CASE
            WHEN ms(wait_ns) = ms(blocked_ns) THEN ''
            ELSE format(', {} with the time on a CPU in these calls', ms(wait_ns))
        END
        || format(', {} of it in {}', pct(cause_share), cause)
        || CASE
            WHEN waker IS NULL THEN ''
            WHEN wakers > 1 AND woken < 0.5 * waits THEN format('; {} processes ended them', wakers)
            ELSE format('; {} ended {} of them', waker, woken)
        END
        || CASE
            WHEN wanted = 'end' AND started > 1 THEN format(', {} of them started by the training itself', started)
            ELSE ''
        END
        || CASE WHEN now_and_then THEN format('; most of the wait is in {} of {} steps', long_steps, steps) ELSE '' END
        || CASE
            WHEN starting_ns IS NULL THEN ''
            ELSE format('; to start them is part of the {} on the CPU between calls', ms(starting_ns))
        END AS evidence, -- what it rests on
    CASE
        WHEN wanted = 'end' AND now_and_then
            THEN 'start a process less often: do its work by a library, or start it once and keep it; '
                || 'else wait for it in another thread'
        WHEN wanted = 'end'
            THEN 'start no process in each step: do its work by a library, or start it once and keep it; '
                || 'else wait for it in another thread'
        WHEN wanted = 'send' THEN 'who reads that is slow: send from another thread, less often, or less'
        WHEN wanted = 'lock' THEN 'hold that lock for less time, or take it less often'
        WHEN now_and_then
            THEN 'ask less often, or ahead, in another thread or process, so that the answer is there in time'
        ELSE 'ask ahead, in another thread or process, so that the answer is there in time, or ask for more at once'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM off_cpu_spans WHERE state IN (''pipe'', ''socket'', ''process'') LIMIT 20"'
        AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps AND lost_ns >= thresholds.min_share * step_ns
