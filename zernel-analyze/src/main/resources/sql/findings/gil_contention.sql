-- Another thread of the process holds Python's lock (GIL). The training thread waits for it and computes nothing.
--
-- Counted are waits for the lock in steps of kind train, also inside the forward pass, backward and the optimizer: each
-- call from Python into PyTorch needs the lock when it returns. Lost is all of that time, at most as the GPU is idle by
-- the driver's samples.
-- Does not apply to interpreters without it. Where the recorder could not say where the lock is, it is told by waits of
-- 5 ms, so one that is held for less at a time is found by blocked_on_thread.
--
-- needs: thread_waits, gpu_busy, _ipc_shares
-- severity: high from 25 % of step time, medium from 10 %
-- hint: py-spy dump --pid PID names the function that the other thread runs
-- lines: the time in which it is held WHERE thread = 'other' AND waits = 'gil' AND state = 'on-cpu' AND python
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.03 AS min_share -- what can be saved, as a share of step time
    ),
    costs AS (
        SELECT
            waits.*,
            least(waits.blocked_ns, busy.idle_ns) AS lost_ns,
            least(waits.blocked_ns, busy.most_idle_ns) AS bound_ns,
            busy.least_idle_ns
        FROM thread_waits AS waits
        LEFT JOIN gpu_busy AS busy ON busy.recording = waits.recording AND busy.pid = waits.pid
        WHERE waits.kind = 'gil'
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    blocked_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] waiting for the lock, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when it is always free
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} blocked for Python''s lock, in {} waits of {} (median)',
        steps, ms(blocked_ns), ms(step_ns), waits, ms(p50_ns))
        || CASE
            WHEN waker_tid IS NULL THEN ''
            WHEN wakers = 1 THEN format('; thread {} hands it over', waker_tid)
            ELSE format('; {} threads hand it over', wakers)
        END
        AS evidence, -- what it rests on
    CASE
        WHEN others.mostly
            THEN 'other threads turn objects into bytes for other processes, or back (pickle): hand over less, once '
                || 'and not in each step, or in shared memory (multiprocessing.shared_memory, tensor.share_memory_())'
        ELSE 'move the work of other threads to processes (multiprocessing), or into code that releases the lock'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM thread_waits"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
LEFT JOIN _ipc_shares AS others USING (recording, pid)
WHERE steps >= thresholds.min_steps AND lost_ns >= thresholds.min_share * step_ns
