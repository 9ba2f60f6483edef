-- A large part of each step is unexplained. The training thread is off its CPU, and no recorded call says why.
--
-- Counted is the median step, so that single stalls do not count (slow_steps). Where time off the CPU was not recorded,
-- it is all time outside every recorded call.
-- Typical reasons: system calls that are not recorded, faults of memory that is swapped, a debugger.
-- An event loop, such as asyncio's, waits for everything in one call, `epoll_wait`: that does not say for what.
-- Does not apply to a trace that is opened without a recording: nobody looked at time off the CPU, and gpu_starved says
-- what the thread did while the GPU was idle.
--
-- needs: step_states, _off_cpu_steps, kinds, files
-- severity: high from 25 % of step time
-- hint: cat /proc/PID/stack and py-spy dump --pid PID say what a thread waits for at a moment
-- lines: the time outside calls WHERE thread = 'training' AND step_kind = 'train' AND part = 'unknown'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.25 AS min_share, -- of step time
            0.5 AS call_share -- of the time, in one system call, which is then named
    ),
    calls AS (
        SELECT
            recording,
            pid,
            tid,
            arg_max(call, blocked_ns) AS call,
            max(CASE WHEN call IS NOT NULL THEN blocked_ns END) / nullif(sum(blocked_ns), 0) AS share
        FROM (
            SELECT recording, pid, tid, call, sum(blocked_ns) AS blocked_ns
            FROM _off_cpu_steps
            WHERE state = 'unexplained' AND step_kind = 'train'
            GROUP BY ALL
        )
        GROUP BY ALL
    ),
    means AS (
        SELECT
            states.recording,
            states.pid,
            states.tid,
            count(*) AS steps,
            median(states.dur_ns) AS step_ns,
            any_value(coalesce(kinds.state = 'attached', FALSE)) AS by_states,
            median(CASE WHEN kinds.state = 'attached' THEN states.unexplained_ns ELSE states.between_ns END)
                AS unexplained_ns
        FROM step_states AS states
        LEFT JOIN kinds ON kinds.recording = states.recording AND kinds.kind = 'sched'
        WHERE states.step_kind = 'train'
        GROUP BY states.recording, states.pid, states.tid
    ),
    costs AS (
        SELECT
            means.*,
            CASE WHEN means.by_states AND calls.share >= thresholds.call_share THEN calls.call END AS call,
            calls.share
        FROM means
        CROSS JOIN thresholds
        LEFT JOIN calls
            ON calls.recording = means.recording
            AND calls.pid = means.pid
            AND calls.tid = means.tid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    unexplained_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    unexplained_ns AS lost_ns, -- [ns] of which nothing is known
    unexplained_ns AS bound_ns, -- [ns] saved at most, when none of it is needed
    format('median of {} steps: {} of {} ', steps, ms(unexplained_ns), ms(step_ns))
        || CASE
            WHEN call LIKE 'epoll%'
                THEN format('off the CPU, {} of it in {}, as event loops such as asyncio''s wait; ', pct(share), call)
            WHEN call IS NOT NULL THEN format('off the CPU, {} of it in {}; ', pct(share), call)
            WHEN by_states THEN 'off the CPU in no recorded call; '
            ELSE 'outside every recorded call, and time off the CPU was not recorded; '
        END AS evidence, -- what it rests on
    CASE
        WHEN call LIKE 'epoll%'
            THEN 'start what the loop awaits a step ahead: asyncio.create_task() before the step, await after it'
        WHEN by_states THEN 'see where it waits: py-spy dump -p PID while it runs'
        ELSE 'record again with the kind sched, or put torch.profiler.record_function around the suspects'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM thread_states"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps AND unexplained_ns >= thresholds.min_share * step_ns
    AND recording NOT IN (SELECT recording FROM files WHERE state = 'trace')
