-- A large part of each step is unexplained. The training thread is off its CPU, and no recorded call says why.
--
-- Counted is the median step, so that single stalls do not count (slow_steps). Where time off the CPU was not recorded,
-- it is all time outside every recorded call.
-- Typical reasons: system calls that are not recorded, faults of memory that is swapped, a debugger.
-- Does not apply to a trace that is opened without a recording: nobody looked at time off the CPU, and gpu_starved says
-- what the thread did while the GPU was idle.
--
-- needs: step_states, kinds, files
-- severity: high from 25 % of step time
-- hint: cat /proc/PID/stack and py-spy dump --pid PID say what a thread waits for at a moment
-- lines: the time outside calls WHERE thread = 'training' AND step_kind = 'train' AND part = 'unknown'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.25 AS min_share -- of step time
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
            WHEN by_states THEN 'off the CPU in no recorded call; '
            ELSE 'outside every recorded call, and time off the CPU was not recorded; '
        END AS evidence, -- what it rests on
    CASE
        WHEN by_states THEN 'see where it waits: py-spy dump -p PID while it runs'
        ELSE 'record again with the kind sched, or put torch.profiler.record_function around the suspects'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM thread_states"' AS next_command -- to see more
FROM means
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps AND unexplained_ns >= thresholds.min_share * step_ns
    AND recording NOT IN (SELECT recording FROM files WHERE state = 'trace')
