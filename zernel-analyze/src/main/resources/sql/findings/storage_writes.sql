-- Training waits for writes. The training thread writes, syncs or renames files in its steps.
--
-- Counted is the time in such calls on files, and in opening them to be written, which may have to empty them, without
-- waiting for a CPU, in steps of kind train, beside checkpoints. Lost is that time, at most as the GPU is idle by the
-- driver's samples.
-- Does not apply to checkpoints (checkpoint_stall), to writes of other threads and processes, to pipes and sockets
-- (blocked_on_process), nor to writes through a mapping of a file.
--
-- needs: events, steps, _off_cpu_steps, gpu_busy
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the same with the log on a memory file system (/dev/shm) tells what storage costs
-- lines: the writes WHERE thread = 'training' AND step_kind = 'train' AND state = 'storage' AND NOT is_read(name)
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.03 AS min_share -- what can be saved, as a share of step time
    ),
    trained AS (
        SELECT recording, pid, tid, count(*) AS steps, avg(dur_ns) AS step_ns
        FROM steps
        WHERE step_kind = 'train'
        GROUP BY ALL
    ),
    ready AS (
        SELECT recording, pid, tid, call_ns, sum(dur_ns - blocked_ns) AS ready_ns
        FROM _off_cpu_steps
        WHERE call_ns IS NOT NULL
        GROUP BY ALL
    ),
    writes AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ts_ns,
            greatest(events.dur_ns - coalesce(ready.ready_ns, 0), 0) AS dur_ns,
            events.name,
            events.bytes,
            events.path
        FROM events
        SEMI JOIN trained
            ON trained.recording = events.recording
            AND trained.pid = events.pid
            AND trained.tid = events.tid
        LEFT JOIN ready
            ON ready.recording = events.recording
            AND ready.pid = events.pid
            AND ready.tid = events.tid
            AND ready.call_ns = events.ts_ns
        WHERE (events.kind IN ('io', 'io_open')) IS TRUE
            AND CASE WHEN events.kind = 'io' THEN NOT is_read(events.name) ELSE events.writable = 1 END
            AND events.path NOT SIMILAR TO '(pipe|socket):.*' IS NOT FALSE
            AND events.dur_ns > 0
    ),
    placed AS (
        SELECT writes.*, steps.step, steps.step_kind
        FROM writes
        ASOF JOIN steps
            ON steps.recording = writes.recording
            AND steps.pid = writes.pid
            AND steps.tid = writes.tid
            AND steps.start_ns <= writes.ts_ns
        WHERE writes.ts_ns < steps.end_ns AND steps.step_kind = 'train'
    ),
    sums AS (
        SELECT
            placed.recording,
            placed.pid,
            placed.tid,
            any_value(trained.steps) AS steps,
            any_value(trained.step_ns) AS step_ns,
            sum(placed.dur_ns) / any_value(trained.steps) AS write_ns,
            sum(CASE WHEN placed.name LIKE '%sync%' THEN placed.dur_ns ELSE 0 END) / any_value(trained.steps)
                AS sync_ns,
            count(*) / any_value(trained.steps) AS calls,
            coalesce(sum(placed.bytes), 0) / any_value(trained.steps) AS bytes,
            arg_max(placed.path, placed.dur_ns) AS path
        FROM placed
        JOIN trained
            ON trained.recording = placed.recording
            AND trained.pid = placed.pid
            AND trained.tid = placed.tid
        GROUP BY placed.recording, placed.pid, placed.tid
    ),
    costs AS (
        SELECT
            sums.*,
            least(sums.write_ns, busy.idle_ns) AS lost_ns,
            least(sums.write_ns, busy.most_idle_ns) AS bound_ns,
            busy.least_idle_ns
        FROM sums
        LEFT JOIN gpu_busy AS busy ON busy.recording = sums.recording AND busy.pid = sums.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that writes
    write_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] in these calls, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when they take no time
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} in {:.1f} calls that write {}, {} of it in syncs; the longest on {}; ',
        steps, ms(write_ns), ms(step_ns), calls, size(bytes), pct(sync_ns / write_ns),
        coalesce(path, 'a file of unknown name')) AS evidence, -- what it rests on
    CASE
        WHEN sync_ns >= 0.5 * write_ns THEN 'sync less often, or in another thread: fsync waits for the device'
        ELSE 'write from another thread or process, less often, or less'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM events WHERE kind = ''io'' ORDER BY dur_ns DESC LIMIT 20"'
        AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps AND lost_ns >= thresholds.min_share * step_ns
