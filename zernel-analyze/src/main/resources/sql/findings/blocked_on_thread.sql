-- The training thread waits for another thread of its process.
--
-- That thread holds a lock, fills a queue, or has to end. Lost is the time blocked on it in steps of kind train, at
-- most as the GPU is idle by the driver's samples. Where that thread waits for another process meanwhile, it says so.
-- Does not apply to threads that work for the training thread, such as those of OpenMP and autograd, nor to Python's
-- lock (gil_contention), to waits for data workers (data_bound), and to waits for the GPU or for ranks.
--
-- needs: thread_waits, _waited_processes, _threads, gpu_busy, _shared_lines
-- severity: high from 25 % of step time, medium from 10 %
-- hint: py-spy dump --pid PID names what both threads are in
-- lines: the waits WHERE thread = 'training' AND waits = 'lock'
-- lines: what the other thread does meanwhile WHERE thread = 'other' AND waits = 'lock' AND wakes
-- lines: what the other process does WHERE serves AND step_kind = 'train'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.03 AS min_share, -- what can be saved, as a share of step time
            0.5 AS behind_share -- of the waits, in which the other thread waits for a process: then that is what lasts
    ),
    names AS (
        SELECT recording, pid, tid, arg_max(comm, events) AS comm
        FROM _threads
        GROUP BY ALL
    ),
    behind AS (
        SELECT
            recording,
            pid,
            tid,
            count(DISTINCT other_pid) AS processes,
            arg_max(format('{} (pid {})', other_comm, other_pid), (waited_ns, -other_pid)) AS process,
            sum(waited_ns) AS waited_ns
        FROM _waited_processes
        WHERE via = 'thread'
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            waits.*,
            names.comm,
            behind.process,
            behind.processes,
            behind.waited_ns / (waits.blocked_ns * waits.steps) AS behind_share,
            least(waits.blocked_ns, busy.idle_ns) AS lost_ns,
            least(waits.blocked_ns, busy.most_idle_ns) AS bound_ns,
            busy.least_idle_ns,
            shared.line,
            shared.work_ns,
            coalesce(shared.native, FALSE) AS native
        FROM thread_waits AS waits
        LEFT JOIN names
            ON names.recording = waits.recording
            AND names.pid = waits.pid
            AND names.tid = waits.waker_tid
        LEFT JOIN behind
            ON behind.recording = waits.recording
            AND behind.pid = waits.pid
            AND behind.tid = waits.tid
        LEFT JOIN gpu_busy AS busy ON busy.recording = waits.recording AND busy.pid = waits.pid
        LEFT JOIN _shared_lines AS shared
            ON shared.recording = waits.recording
            AND shared.pid = waits.pid
            AND shared.tid = waits.tid
        WHERE waits.kind = 'lock'
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    blocked_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] blocked, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when it never waits
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} blocked on another thread, in {} waits of {} (median)',
        steps, ms(blocked_ns), ms(step_ns), waits, ms(p50_ns))
        || CASE
            WHEN waker_tid IS NULL THEN ''
            WHEN wakers = 1 THEN format('; of {} it is known who ended them: thread {}{}',
                woken, waker_tid, coalesce(' (' || comm || ')', ''))
            ELSE format('; of {} it is known who ended them: {} threads, most often {}{}',
                woken, wakers, waker_tid, coalesce(' (' || comm || ')', ''))
        END
        || CASE
            WHEN native THEN ', which runs no Python code'
            WHEN costs.behind_share < thresholds.behind_share OR process IS NULL THEN ''
            WHEN processes = 1 THEN format('; for {} of it that thread waits for {}', pct(costs.behind_share), process)
            ELSE format('; for {} of it that thread waits for {} other processes, most for {}',
                pct(costs.behind_share), processes, process)
        END
        || coalesce(format('; the same line also takes {} on the CPU, by samples (cpu_between_calls)', ms(work_ns)), '')
        AS evidence, -- what it rests on
    CASE
        WHEN native
            THEN 'the other thread works for the call in that line: make the call cheaper or rarer, or make it ahead, '
                || 'in a data worker or a thread of its own'
        WHEN costs.behind_share >= thresholds.behind_share
            THEN 'let the other process start a step ahead (Pool.map_async, Executor.submit), hand it less data, '
                || 'or use more processes where CPUs are left'
        ELSE 'let the other thread hold the lock for less time, fill its queue ahead, or give its work to more threads'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM thread_waits"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps AND lost_ns >= thresholds.min_share * step_ns
