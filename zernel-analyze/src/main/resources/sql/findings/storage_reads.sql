-- The training thread reads from storage itself. It waits for files in its steps, outside of data loading.
--
-- Counted is the time in reads that blocked on storage, without waiting for a CPU, and blocked in faults on mapped
-- files, in steps of kind train: to make room in the page cache, to start the device and to copy takes time on the CPU,
-- too. Lost is that time, at most as the GPU is idle by the driver's samples.
-- Does not apply to what a data loader reads (storage_bound), to writes (storage_writes), nor to files in the page
-- cache, which block nobody.
--
-- needs: _off_cpu_steps, thread_states, gpu_busy
-- severity: high from 25 % of step time, medium from 10 %
-- hint: a second recording with a warm page cache tells storage from the rest
-- lines: the reading WHERE thread = 'training' AND part <> 'data_wait' AND state = 'storage' AND is_read(name)
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.03 AS min_share -- what can be saved, as a share of step time
    ),
    read AS (
        SELECT
            recording,
            pid,
            tid,
            object,
            call,
            sum(blocked_ns) AS blocked_ns,
            sum(blocked_ns + call_cpu_ns) AS call_ns,
            count(*) AS waits
        FROM _off_cpu_steps
        WHERE state = 'storage' AND is_read(call) AND step_kind = 'train' AND part <> 'data_wait'
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            read.recording,
            read.pid,
            read.tid,
            any_value(trained.steps) AS steps,
            any_value(trained.step_ns) AS step_ns,
            sum(read.call_ns) / any_value(trained.steps) AS read_ns,
            sum(read.blocked_ns) / any_value(trained.steps) AS blocked_ns,
            sum(read.waits) / any_value(trained.steps) AS waits,
            sum(CASE WHEN read.call = 'page_fault' THEN read.call_ns ELSE 0 END) / sum(read.call_ns)
                AS fault_share,
            arg_max(read.object, read.call_ns) AS path,
            count(DISTINCT read.object) AS files,
            least(sum(read.call_ns) / any_value(trained.steps), any_value(busy.idle_ns)) AS lost_ns,
            least(sum(read.call_ns) / any_value(trained.steps), any_value(busy.most_idle_ns)) AS bound_ns,
            any_value(busy.least_idle_ns) AS least_idle_ns
        FROM read
        JOIN thread_states AS trained
            ON trained.recording = read.recording AND trained.pid = read.pid AND trained.tid = read.tid
        LEFT JOIN gpu_busy AS busy ON busy.recording = read.recording AND busy.pid = read.pid
        WHERE read.blocked_ns > 0
        GROUP BY read.recording, read.pid, read.tid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that reads
    read_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] in these reads, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when nothing is read
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} blocked on storage in {:.1f} waits', steps, ms(blocked_ns), ms(step_ns), waits)
        || CASE
            WHEN ms(read_ns) = ms(blocked_ns) THEN ''
            ELSE format(', {} with the time on a CPU in these reads', ms(read_ns))
        END
        || format(', {} of it in faults on mapped files; ', pct(fault_share))
        || format('{} file{}, the longest on {}; ', files, CASE WHEN files = 1 THEN '' ELSE 's' END,
            coalesce(path, 'a file of unknown name')) AS evidence, -- what it rests on
    'read ahead in a DataLoader with workers or in a thread, or keep what is read in memory'
        AS advice, -- what to try
    'zernel-analyze sql {} "FROM reads_by_file"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps AND lost_ns >= thresholds.min_share * step_ns
