-- The training thread waits for another thread of its process.
--
-- That thread holds a lock, fills a queue, or has to end. Lost is the time blocked on it in steps of kind train, at
-- most as the GPU is idle by the driver's samples.
-- Does not apply to threads that work for the training thread, such as those of OpenMP and autograd, nor to Python's
-- lock (gil_contention), to waits for data workers (data_bound), and to waits for the GPU or for ranks.
--
-- needs: thread_waits, _threads, gpu_busy
-- severity: high from 25 % of step time, medium from 10 %
-- hint: py-spy dump --pid PID names what both threads are in
-- lines: the waits WHERE thread = 'training' AND waits = 'lock'
-- lines: what the other thread does meanwhile WHERE thread = 'other' AND waits = 'lock' AND wakes
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.03 AS min_share -- what can be saved, as a share of step time
    ),
    names AS (
        SELECT recording, pid, tid, arg_max(comm, events) AS comm
        FROM _threads
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            waits.*,
            names.comm,
            least(waits.blocked_ns, busy.idle_ns) AS lost_ns,
            least(waits.blocked_ns, busy.most_idle_ns) AS bound_ns,
            busy.least_idle_ns
        FROM thread_waits AS waits
        LEFT JOIN names
            ON names.recording = waits.recording
            AND names.pid = waits.pid
            AND names.tid = waits.waker_tid
        LEFT JOIN gpu_busy AS busy ON busy.recording = waits.recording AND busy.pid = waits.pid
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
        END AS evidence, -- what it rests on
    'let the other thread hold the lock for less time, fill its queue ahead, or give its work to more threads'
        AS advice, -- what to try
    'zernel-analyze sql {} "FROM thread_waits"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps AND lost_ns >= thresholds.min_share * step_ns
