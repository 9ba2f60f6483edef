-- Waits for data that a role tells, by threads: their functions, and how much of them was off the CPU.
--
-- Only time off the CPU of at least the recorder's threshold is recorded, so that is a lower bound. A trace that is
-- opened without a recording has none of it.
--
-- needs: _role_calls, events, files
CREATE TABLE _role_waits AS
WITH
    waits AS (
        SELECT recording, pid, tid, name, start_ns, end_ns
        FROM _role_calls
        WHERE role = 'data_wait' AND end_ns > start_ns
    ),
    threads AS (
        SELECT
            recording,
            pid,
            tid,
            string_agg(DISTINCT name, ', ' ORDER BY name) AS names,
            sum(end_ns - start_ns) AS wait_ns
        FROM waits
        GROUP BY ALL
    ),
    gone AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ts_ns,
            events.dur_ns - coalesce(events.runq_ns, 0) AS off_ns
        FROM events
        JOIN threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        WHERE events.kind = 'sched' AND events.dur_ns IS NOT NULL
    ),
    off AS (
        SELECT gone.recording, gone.pid, gone.tid, sum(gone.off_ns) AS off_ns
        FROM gone
        ASOF JOIN waits
            ON waits.recording = gone.recording
            AND waits.pid = gone.pid
            AND waits.tid = gone.tid
            AND waits.start_ns <= gone.ts_ns
        WHERE gone.ts_ns < waits.end_ns
        GROUP BY ALL
    )
SELECT
    threads.recording, -- recording
    threads.pid, -- process
    threads.tid, -- thread
    threads.names, -- the functions or regions with the role data_wait
    CASE
        WHEN threads.recording NOT IN (SELECT recording FROM files WHERE state = 'trace')
            THEN coalesce(off.off_ns, 0) / threads.wait_ns
    END AS asleep_share -- share of the wait asleep or blocked, 0 to 1; NULL where that is not known
FROM threads
LEFT JOIN off ON off.recording = threads.recording AND off.pid = threads.pid AND off.tid = threads.tid;

-- What training threads that load data do while they wait for it: reads, and time off the CPU.
--
-- Of threads with data workers, only the time off the CPU is of use. A page fault that waits for storage is recorded
-- from its begin to the end of the wait; what else its page costs, and those after it that find their pages read
-- ahead, are samples of the same call in the same line, if most of that call's time is in such faults.
--
-- needs: events, training_threads, data_wait, stack_events, stack_lines, _off_cpu_steps, _launching_threads
-- needs: _role_waits
CREATE VIEW _own_loading AS
WITH
    threads AS (
        SELECT recording, pid, tid, steady_steps AS steps, loads_in_process
        FROM training_threads
        WHERE steady_steps > 0 AND batches > 0
    ),
    waits AS (
        SELECT recording, pid, tid, sum(dur_ns) AS wait_ns
        FROM data_wait
        GROUP BY ALL
    ),
    read_calls AS (
        SELECT events.recording, events.pid, events.tid, events.ts_ns, events.dur_ns, events.io_ns
        FROM events
        JOIN threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        WHERE events.kind = 'io'
            AND is_read(events.name)
            AND NOT coalesce(events.path LIKE 'pipe:%' OR events.path LIKE 'socket:%', FALSE)
            AND events.dur_ns IS NOT NULL
            AND threads.loads_in_process
    ),
    reading AS (
        SELECT
            read_calls.recording,
            read_calls.pid,
            read_calls.tid,
            sum(read_calls.dur_ns) AS read_ns,
            sum(read_calls.io_ns) AS disk_ns
        FROM read_calls
        ASOF JOIN data_wait
            ON data_wait.recording = read_calls.recording
            AND data_wait.pid = read_calls.pid
            AND data_wait.tid = read_calls.tid
            AND data_wait.start_ns <= read_calls.ts_ns
        WHERE read_calls.ts_ns < data_wait.start_ns + data_wait.dur_ns
        GROUP BY ALL
    ),
    placed AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.kind,
            events.name,
            events.middle_ns,
            events.ns,
            lines.line,
            lines.called
        FROM stack_events AS events
        JOIN stack_lines AS lines ON lines.id = events.id
        WHERE events.kind = 'sample' OR events.name = 'page_fault'
    ),
    mapped AS (
        SELECT
            placed.recording,
            placed.pid,
            placed.tid,
            sum(CASE WHEN placed.kind = 'sample' THEN placed.ns ELSE 0 END) AS sampled_ns
        FROM placed
        ASOF JOIN data_wait
            ON data_wait.recording = placed.recording
            AND data_wait.pid = placed.pid
            AND data_wait.tid = placed.tid
            AND data_wait.start_ns <= placed.middle_ns
        WHERE placed.middle_ns < data_wait.start_ns + data_wait.dur_ns AND placed.called IS NOT NULL
        GROUP BY placed.recording, placed.pid, placed.tid, placed.line, placed.called
        HAVING sum(CASE WHEN placed.name = 'page_fault' THEN placed.ns ELSE 0 END) > sampled_ns
    ),
    faulting AS (
        SELECT recording, pid, tid, sum(sampled_ns) AS fault_ns
        FROM mapped
        GROUP BY recording, pid, tid
    ),
    spans AS (
        SELECT
            recording,
            pid,
            tid,
            sum(dur_ns) AS off_ns,
            sum(CASE WHEN part = 'data_wait' THEN dur_ns ELSE 0 END) AS data_off_ns,
            sum(CASE WHEN part = 'data_wait' THEN runq_ns ELSE 0 END) AS data_runq_ns,
            sum(CASE
                WHEN part = 'data_wait' AND blocked_ns > 0 AND NOT coalesce(object LIKE 'socket:%', FALSE) THEN dur_ns
                ELSE 0
            END) AS data_blocked_ns,
            count_if(part = 'data_wait' AND blocked_ns > 0 AND object LIKE 'socket:%') AS data_sockets
        FROM _off_cpu_steps
        WHERE step_kind = 'train'
        GROUP BY ALL
    )
SELECT
    threads.recording, -- recording
    threads.pid, -- process
    threads.tid, -- training thread
    coalesce(others.threads, 0) AS other_threads, -- threads of the process beside it that launch work on a GPU
    named.names, -- functions with the role data_wait; NULL where a DataLoader tells it
    named.asleep_share, -- share of their time asleep or blocked, 0 to 1; NULL where that is not known
    CASE WHEN reading.read_ns > 0 THEN least((reading.read_ns + coalesce(faulting.fault_ns, 0)) / waits.wait_ns, 1) END
        AS reading, -- share of its waits for data in reads of files; NULL where it has none
    reading.disk_ns IS NOT NULL
        AND _copies(greatest(reading.disk_ns, coalesce(spans.data_off_ns - spans.data_runq_ns, 0)), reading.read_ns)
        AS copies, -- whether these reads copy what is in memory; not where the recording does not say
    coalesce(spans.off_ns, 0) / threads.steps AS off_ns, -- [ns] off the CPU, in a mean step
    coalesce(spans.data_off_ns, 0) / threads.steps AS data_off_ns, -- [ns] of it, while it waits for data
    coalesce(spans.data_runq_ns, 0) / threads.steps AS data_runq_ns, -- [ns] of that, ready to run, without a CPU
    spans.data_blocked_ns / threads.steps
        AS data_blocked_ns, -- [ns] of it, blocked but not on a socket, until it ran again; NULL where that is not known
    coalesce(spans.data_sockets, 0) / threads.steps AS data_sockets -- times it waits on a socket meanwhile
FROM threads
JOIN waits ON waits.recording = threads.recording AND waits.pid = threads.pid AND waits.tid = threads.tid
LEFT JOIN reading
    ON reading.recording = threads.recording
    AND reading.pid = threads.pid
    AND reading.tid = threads.tid
LEFT JOIN faulting
    ON faulting.recording = threads.recording
    AND faulting.pid = threads.pid
    AND faulting.tid = threads.tid
LEFT JOIN spans ON spans.recording = threads.recording AND spans.pid = threads.pid AND spans.tid = threads.tid
LEFT JOIN (
    SELECT training.recording, training.pid, training.tid, count(*) AS threads
    FROM threads AS training
    JOIN _launching_threads AS launching
        ON launching.recording = training.recording
        AND launching.pid = training.pid
        AND launching.tid <> training.tid
    GROUP BY ALL
) AS others ON others.recording = threads.recording AND others.pid = threads.pid AND others.tid = threads.tid
LEFT JOIN _role_waits AS named
    ON named.recording = threads.recording
    AND named.pid = threads.pid
    AND named.tid = threads.tid;

-- What training threads do on a CPU while they wait for data, by samples: a sampler, or objects of a batch.
--
-- What a worker sends comes through a queue as bytes, of which the training thread makes objects: that of tensors is
-- left out, whose memory comes by itself. Samplers run in the training process, however many workers there are.
-- PyTorch's own draw the order of a whole pass when its first batch is asked for, so where that is most of it and a
-- usual wait is as long as the mean one, each step begins a pass.
--
-- needs: stack_events, _stack_frames, data_wait
CREATE VIEW _wait_samples AS
WITH
    constants AS (
        SELECT
            20 AS least_samples, -- in waits, below which nothing is told
            0.5 AS draw_share, -- of samples in samplers, from which on the order of a pass is what takes long
            0.5 AS usual_share -- of the mean wait, that the median one is at least where all draw it
    ),
    inside AS (
        SELECT
            id,
            bool_or(
                regexp_matches(function, '(^|\.)_next_index$')
                OR regexp_matches(file, '/torch/utils/data/(sampler|distributed)\.py$')
            ) AS samples,
            bool_or(regexp_matches(function, '(^|\.)get$') AND regexp_matches(file, '/multiprocess(ing)?/queues\.py$'))
                AND NOT bool_or(regexp_matches(file, '/torch/multiprocessing/reductions\.py$')) AS makes_objects,
            arg_min(
                regexp_matches(coalesce(file, ''), '/torch/utils/data/(sampler|distributed)\.py$')
                    AND regexp_matches(coalesce(function, ''), '(Random|Distributed)Sampler\.__iter__$'),
                frame
            ) FILTER (NOT native) AS draws
        FROM _stack_frames
        GROUP BY id
    ),
    waits AS (
        SELECT recording, pid, tid, median(dur_ns) AS usual_ns, avg(dur_ns) AS mean_ns
        FROM data_wait
        GROUP BY ALL
    ),
    taken AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            count(*) AS samples,
            avg(CASE WHEN inside.samples THEN 1.0 ELSE 0.0 END) AS share,
            avg(CASE WHEN inside.makes_objects THEN 1.0 ELSE 0.0 END) AS objects_share,
            avg(CASE WHEN inside.draws THEN 1.0 ELSE 0.0 END) AS draw_share
        FROM stack_events AS events
        JOIN inside ON inside.id = events.id
        ASOF JOIN data_wait
            ON data_wait.recording = events.recording
            AND data_wait.pid = events.pid
            AND data_wait.tid = events.tid
            AND data_wait.start_ns <= events.middle_ns
        WHERE events.kind = 'sample' AND events.middle_ns < data_wait.start_ns + data_wait.dur_ns
        GROUP BY ALL
    )
SELECT
    taken.recording, -- recording
    taken.pid, -- process
    taken.tid, -- training thread
    taken.share, -- share of its time on a CPU in waits that is in a sampler, 0 to 1
    taken.objects_share, -- share of it, that makes objects of what workers sent, but for tensors
    taken.share > 0
        AND taken.draw_share >= constants.draw_share * taken.share
        AND waits.usual_ns >= constants.usual_share * waits.mean_ns
        AS draws_each -- whether that is mostly a pass's order, drawn in most waits
FROM taken
JOIN waits ON waits.recording = taken.recording AND waits.pid = taken.pid AND waits.tid = taken.tid
CROSS JOIN constants
WHERE taken.samples >= constants.least_samples;

-- Fetches of data workers that take many times as long as the usual one, per process that trains.
--
-- A fetch is what a worker does between two waits for an index; the first one of a worker is left out. A loader hands
-- batches out in order, so while one fetch takes long, the batches of the other workers wait, and these workers are
-- idle as soon as they are that far ahead.
--
-- needs: workers, off_cpu_spans
CREATE TABLE _uneven_fetches AS
WITH
    constants AS (
        SELECT
            5 AS times, -- of the median fetch, from which on one takes long
            2e6 AS min_ns -- [ns] of such a fetch
    ),
    waits AS (
        SELECT
            workers.recording,
            workers.ppid,
            spans.start_ns - lag(spans.start_ns + spans.dur_ns) OVER in_order AS fetch_ns,
            row_number() OVER in_order > 2 AS later
        FROM off_cpu_spans AS spans
        JOIN workers
            ON workers.recording = spans.recording
            AND workers.pid = spans.pid
            AND workers.pid = spans.tid
        WHERE spans.state = 'pipe'
            AND spans.start_ns >= workers.start_ns
            AND spans.start_ns <= workers.start_ns + workers.window_ns
        WINDOW in_order AS (PARTITION BY workers.recording, workers.pid ORDER BY spans.start_ns)
    ),
    usual AS (
        SELECT recording, ppid, median(fetch_ns) AS usual_ns, count(*) AS fetches
        FROM waits
        WHERE later
        GROUP BY recording, ppid
    )
SELECT
    waits.recording, -- recording
    waits.ppid AS pid, -- process that trains
    any_value(usual.fetches) AS fetches, -- fetches in all
    any_value(usual.usual_ns) AS usual_ns, -- [ns] median of them
    count(*) AS long_fetches, -- those that take long
    median(waits.fetch_ns) AS long_ns, -- [ns] median of these
    sum(waits.fetch_ns) AS all_long_ns -- [ns] these together
FROM waits
JOIN usual ON usual.recording = waits.recording AND usual.ppid = waits.ppid
CROSS JOIN constants
WHERE waits.later AND waits.fetch_ns >= greatest(constants.times * usual.usual_ns, constants.min_ns)
GROUP BY waits.recording, waits.ppid;

-- How long threads that compute for a training thread have no CPU while it does not wait for data.
--
-- That is of the thread that waits most, as they take turns, in steps of kind train. Threads that run Python code do
-- not compute for it.
--
-- needs: _switches, training_threads, _launching_threads, _python_threads, steps, data_wait
CREATE VIEW _pool_delays AS
WITH
    delays AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            threads.steady_steps AS steps,
            switches.tid AS pool_tid,
            switches.ts_ns + coalesce(switches.dur_ns, switches.runq_ns) - switches.runq_ns AS ready_ns,
            switches.runq_ns
        FROM training_threads AS threads
        JOIN _switches AS switches
            ON switches.recording = threads.recording
            AND switches.pid = threads.pid
            AND switches.tid <> threads.tid
        ANTI JOIN _launching_threads AS launching
            ON launching.recording = switches.recording
            AND launching.pid = switches.pid
            AND launching.tid = switches.tid
        ANTI JOIN _python_threads AS pythons
            ON pythons.recording = switches.recording
            AND pythons.pid = switches.pid
            AND pythons.tid = switches.tid
        WHERE switches.runq_ns > 0 AND threads.steady_steps > 0
    ),
    trained AS (
        SELECT delays.*
        FROM delays
        ASOF JOIN steps
            ON steps.recording = delays.recording
            AND steps.pid = delays.pid
            AND steps.tid = delays.tid
            AND steps.start_ns <= delays.ready_ns
        WHERE delays.ready_ns < steps.end_ns AND steps.step_kind = 'train'
    ),
    sums AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            trained.pool_tid,
            sum(trained.runq_ns) / any_value(trained.steps) AS delay_ns
        FROM trained
        ASOF LEFT JOIN data_wait
            ON data_wait.recording = trained.recording
            AND data_wait.pid = trained.pid
            AND data_wait.tid = trained.tid
            AND data_wait.start_ns <= trained.ready_ns
        WHERE coalesce(trained.ready_ns >= data_wait.start_ns + data_wait.dur_ns, TRUE)
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    max(delay_ns) AS delay_ns -- [ns] of a mean step, of the thread that waits most
FROM sums
GROUP BY recording, pid, tid;

-- What waiting for data costs each training thread, whatever rank is late: what data_wait_causes decides by.
--
-- More workers save what the training thread loads itself, but not its sampler, nor what it takes to get a batch from
-- a worker. That is 0.3 ms of the thread's own time on a CPU at least: what PyTorch 2 took for two small tensors on a
-- virtual machine of 2026, where the thread waited 0.5 ms and more for each.
-- Where workers load, what the thread itself does in the wait is the hand-over, but for its sampler: what it is not
-- blocked, and what it waits on sockets, through which each tensor's memory comes.
-- Workers that compute also take the CPUs of the training's own computation. Where threads that compute for it are no
-- more than the CPUs and have the CPU that the training thread wants, workers or other programs have the rest; the part
-- of the workers is theirs by the CPUs that both use, or where workers mostly have that CPU, all of it. So is what the
-- thread waits on a CPU for threads of its pool that have none. At most all that any has none is.
--
-- needs: training_threads, _own_loading, worker_crews, worker_starts, gpu_busy, host_usage, _bound_cpus, _cpu_waits
-- needs: _wait_samples, _uneven_fetches, _pool_delays, _other_threads
-- digest: kept
CREATE TABLE _data_waits AS
WITH
    constants AS (
        SELECT
            0.5 AS idle_share, -- workers are idle from this share of waiting for indices
            0.5 AS reading_share, -- storage is to blame from this share of active time in reads
            0.5 AS few_share, -- of what is lost, that more workers must bring
            0.3 AS cpu_bound_share, -- of loading, from which on it needs CPUs
            0.05 AS min_unbound, -- of a step, that more CPUs save, from which on that a process is bound matters
            0.05 AS crowded_step, -- of a step, that workers have its CPU, from which on none is left for more of them
            0.1 AS crowded_share, -- of the time of workers, ready without a CPU, from which on none is idle
            0.5 AS uneven_share, -- of the wait, that fetches of many times the usual length must take
            0.5 AS sampler_share, -- of the wait, from which on the sampler is to blame
            0.5 AS handed_share, -- of the wait, from which on the hand-over of batches is
            10 AS many_sockets, -- waits on sockets in a step, from which on it is that of many tensors
            0.2 AS sibling_share -- of a CPU, that the second thread of a core brings
    ),
    threads AS (
        SELECT
            recording,
            pid,
            tid,
            steady_steps AS steps,
            steady_ns / steady_steps AS step_ns,
            steady_data_ns / steady_steps AS data_ns,
            loads_in_process
        FROM training_threads
        WHERE steady_steps > 0 AND batches > 0
    ),
    measured AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            threads.steps,
            threads.step_ns,
            threads.data_ns,
            threads.loads_in_process,
            greatest(threads.data_ns - coalesce(starts.data_ns, 0) / threads.steps, 0) AS rest_ns,
            crews.at_once,
            crews.idle_share AS waiting_share,
            crews.blocked_share,
            crews.io_share,
            crews.cpu_share,
            crews.runq_share,
            CASE
                WHEN threads.loads_in_process THEN own.reading
                ELSE crews.io_share / nullif(1 - crews.idle_share, 0)
            END AS reading,
            coalesce(own.copies AND threads.loads_in_process, FALSE) AS copies,
            crews.copied_share,
            fetches.fetches,
            fetches.usual_ns AS usual_fetch_ns,
            fetches.long_fetches,
            fetches.long_ns AS long_fetch_ns,
            fetches.all_long_ns * crews.at_once / nullif(crews.window_ns, 0) AS long_share,
            crews.read_bytes / nullif(crews.window_ns * crews.io_share / 1e9, 0) AS bytes_per_s,
            coalesce(own.data_off_ns, 0) AS data_off_ns,
            coalesce(own.data_runq_ns, 0) AS data_runq_ns,
            greatest(threads.data_ns - coalesce(own.data_off_ns, 0), 0) AS data_cpu_ns,
            coalesce(samples.share, 0) * data_cpu_ns AS sampler_ns,
            coalesce(samples.draws_each, FALSE) AS draws_each,
            CASE
                WHEN NOT threads.loads_in_process THEN greatest(rest_ns - own.data_blocked_ns - sampler_ns, 0)
            END AS handed_ns,
            CASE WHEN NOT threads.loads_in_process THEN samples.objects_share * data_cpu_ns END AS objects_ns,
            own.data_sockets,
            -- CPUs that the job uses: the training thread's and its workers'.
            (threads.step_ns - CASE
                WHEN threads.loads_in_process THEN coalesce(own.off_ns, 0)
                ELSE greatest(coalesce(own.off_ns, 0), threads.data_ns)
            END) / threads.step_ns AS own_cpus,
            coalesce(own.other_threads, 0) AS other_cpus,
            coalesce(runs.helpers >= 1, FALSE) AS has_pool,
            coalesce(crews.at_once * crews.cpu_share, 0) AS worker_cpus,
            usage.idle_cpus,
            coalesce(usage.measured, FALSE) AS idle_measured,
            usage.cpus,
            -- CPUs that nothing uses, where the process is bound to some of them.
            CASE WHEN bound.bound_cpus IS NOT NULL THEN greatest(usage.cpus - usage.busy_cpus, 0) END AS unbound_cpus,
            busy.idle_ns,
            busy.most_idle_ns,
            busy.least_idle_ns,
            own.names,
            own.asleep_share,
            -- What lies in the wait counts there.
            CASE
                WHEN ready.holder = 'workers'
                    THEN (greatest(ready.delay_ns - coalesce(own.data_runq_ns, 0), 0) + ready.pool_ns)
                        * (ready.holder_share + CASE WHEN ready.crowded THEN 0 ELSE ready.threads_share END)
                WHEN ready.holder = 'threads'
                    AND NOT ready.crowded
                    AND crews.at_once > 0
                    AND usage.job_cpus <= usage.busy_cpus
                    THEN greatest(ready.delay_ns - coalesce(own.data_runq_ns, 0), 0) * ready.holder_share
                        * crews.at_once * crews.cpu_share
                        / (crews.at_once * crews.cpu_share
                            + greatest(usage.busy_cpus - usage.job_cpus, 0.01))
                ELSE 0
            END AS own_crowd_ns,
            CASE
                WHEN ready.holder = 'workers'
                    THEN greatest(ready.bound_ns - coalesce(own.data_runq_ns, 0), own_crowd_ns)
                WHEN own_crowd_ns > 0
                    THEN greatest(ready.delay_ns - coalesce(own.data_runq_ns, 0), 0) + coalesce(pools.delay_ns, 0)
                ELSE 0
            END AS own_most_crowd_ns,
            CASE
                WHEN ready.holder = 'workers'
                    THEN greatest(ready.delay_ns - coalesce(own.data_runq_ns, 0), 0) * ready.holder_share
                ELSE 0
            END AS own_least_crowd_ns
        FROM threads
        LEFT JOIN _own_loading AS own
            ON own.recording = threads.recording
            AND own.pid = threads.pid
            AND own.tid = threads.tid
        LEFT JOIN _wait_samples AS samples
            ON samples.recording = threads.recording
            AND samples.pid = threads.pid
            AND samples.tid = threads.tid
        LEFT JOIN worker_starts AS starts
            ON starts.recording = threads.recording
            AND starts.pid = threads.pid
            AND starts.tid = threads.tid
        LEFT JOIN worker_crews AS crews ON crews.recording = threads.recording AND crews.pid = threads.pid
        LEFT JOIN _uneven_fetches AS fetches ON fetches.recording = threads.recording AND fetches.pid = threads.pid
        LEFT JOIN host_usage AS usage ON usage.recording = threads.recording AND usage.pid = threads.pid
        LEFT JOIN _bound_cpus AS bound ON bound.recording = threads.recording AND bound.pid = threads.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = threads.recording AND busy.pid = threads.pid
        LEFT JOIN _cpu_waits AS ready
            ON ready.recording = threads.recording
            AND ready.pid = threads.pid
            AND ready.tid = threads.tid
            AND ready.holder IN ('workers', 'threads')
        LEFT JOIN _other_threads AS runs ON runs.recording = threads.recording AND runs.pid = threads.pid
        LEFT JOIN _pool_delays AS pools
            ON pools.recording = threads.recording
            AND pools.pid = threads.pid
            AND pools.tid = threads.tid
    ),
    works AS (
        SELECT
            measured.*,
            coalesce(own_crowd_ns, 0) AS crowd_ns,
            coalesce(own_most_crowd_ns, 0) AS most_crowd_ns,
            coalesce(own_least_crowd_ns, 0) AS least_crowd_ns,
            least(rest_ns, coalesce(idle_ns, rest_ns)) AS wait_ns,
            -- What workers can take off the training thread: all that it waits, or loads itself without its sampler.
            CASE
                WHEN loads_in_process THEN greatest(rest_ns - sampler_ns - _hand_over_ns(), 0)
                ELSE rest_ns
            END AS movable_ns,
            least(movable_ns, coalesce(idle_ns, movable_ns)) AS saved_ns,
            least(movable_ns, coalesce(most_idle_ns, movable_ns)) AS most_saved_ns,
            -- What loading a step's data takes, of a worker's time and of a CPU's.
            CASE
                WHEN loads_in_process THEN greatest(data_ns - data_runq_ns - sampler_ns, 0)
                ELSE at_once * (1 - waiting_share - runq_share) * step_ns
            END AS load_ns,
            CASE
                WHEN loads_in_process THEN greatest(data_ns - data_off_ns - sampler_ns, 0)
                ELSE at_once * cpu_share * step_ns
            END AS load_cpu_ns,
            CASE
                WHEN idle_measured THEN measured.idle_cpus
                WHEN cpus IS NULL THEN NULL
                WHEN max(coalesce(runq_share, 0)) OVER (PARTITION BY recording) >= constants.crowded_share THEN 0
                ELSE greatest(
                    cpus - sum(own_cpus + other_cpus + worker_cpus) OVER (PARTITION BY recording),
                    0
                )
            END AS free_cpus
        FROM measured
        CROSS JOIN constants
    ),
    loads AS (
        SELECT
            works.*,
            CASE WHEN free_cpus IS NOT NULL THEN greatest(own_cpus + worker_cpus + free_cpus, 0.01) END AS job_cpus,
            CASE
                WHEN load_cpu_ns >= constants.cpu_bound_share * load_ns
                    THEN greatest(own_cpus * step_ns - CASE WHEN loads_in_process THEN load_cpu_ns ELSE 0 END, 0)
                        + load_cpu_ns
                ELSE 0
            END AS job_cpu_ns
        FROM works
        CROSS JOIN constants
    ),
    -- A step with workers enough: the training thread's own work, or all work on all CPUs of the job, if known.
    reached AS (
        SELECT
            loads.*,
            greatest(step_ns - saved_ns, job_cpu_ns / job_cpus, 0.01 * step_ns) AS reached_ns,
            greatest(
                step_ns - saved_ns,
                job_cpu_ns / (least(job_cpus, cpus / 2) + constants.sibling_share * greatest(job_cpus - cpus / 2, 0)),
                0.01 * step_ns
            ) AS most_reached_ns,
            -- What is saved where nothing binds the process, with the workers that it has, or else with workers enough.
            CASE
                WHEN unbound_cpus IS NOT NULL THEN step_ns - greatest(
                    step_ns - wait_ns - crowd_ns,
                    job_cpu_ns / greatest(own_cpus + worker_cpus + unbound_cpus, 0.01),
                    CASE WHEN loads_in_process THEN 0 ELSE load_cpu_ns / at_once END,
                    0.01 * step_ns
                )
            END AS unbound_ns
        FROM loads
        CROSS JOIN constants
    ),
    needs AS (
        SELECT
            reached.*,
            greatest(least(step_ns - reached_ns, saved_ns), 0) AS few_ns,
            -- A pool for its operators is idle while the thread loads, and needs those CPUs where workers do: all cores
            -- compute then, instead of one.
            greatest(
                least(
                    step_ns - coalesce(most_reached_ns, reached_ns),
                    saved_ns,
                    CASE
                        WHEN loads_in_process AND has_pool
                            THEN saved_ns - load_cpu_ns / greatest((1 + constants.sibling_share) * cpus / 2, 1)
                        ELSE saved_ns
                    END
                ),
                0
            ) AS least_few_ns,
            greatest(
                least(
                    step_ns - greatest(step_ns - most_saved_ns, job_cpu_ns / job_cpus, 0.01 * step_ns),
                    most_saved_ns
                ),
                0
            ) AS most_few_ns,
            CASE
                WHEN loads_in_process AND reading >= reading_share AND NOT copies
                    THEN reading * rest_ns
                ELSE rest_ns
            END AS slow_ns,
            greatest(
                CASE WHEN loads_in_process THEN 1 ELSE at_once + 1 END,
                ceil(load_ns / reached_ns)
            ) AS workers_needed
        FROM reached
        CROSS JOIN constants
    ),
    caused AS (
        SELECT
            needs.*,
            CASE WHEN unbound_ns >= constants.min_unbound * step_ns THEN unbound_ns END AS useful_unbound_ns,
            CASE
                WHEN sampler_ns >= constants.sampler_share * data_ns AND sampler_ns > 0 THEN 'sampler'
                WHEN NOT loads_in_process AND waiting_share IS NULL THEN 'unseen'
                WHEN data_sockets >= constants.many_sockets AND handed_ns >= constants.handed_share * rest_ns
                    THEN 'tensors'
                WHEN objects_ns >= constants.handed_share * rest_ns AND objects_ns > 0 THEN 'objects'
                WHEN NOT loads_in_process
                    AND waiting_share >= constants.idle_share
                    AND long_share * step_ns >= constants.uneven_share * rest_ns
                    THEN 'uneven'
                WHEN NOT loads_in_process AND waiting_share >= constants.idle_share THEN 'idle'
                WHEN reading >= constants.reading_share AND NOT copies
                    THEN 'storage'
                WHEN names IS NOT NULL THEN 'named'
                WHEN cpus IS NULL THEN 'unmeasured'
                WHEN (crowd_ns >= constants.crowded_step * step_ns OR runq_share >= constants.crowded_share)
                    AND free_cpus < 1
                    THEN 'transform'
                WHEN few_ns >= constants.few_share * saved_ns THEN 'few'
                ELSE 'transform'
            END AS cause
        FROM needs
        CROSS JOIN constants
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    steps, -- steps of kind train
    step_ns, -- [ns] mean step
    data_ns, -- [ns] inside DataLoader __next__ and starts of workers, of a mean step
    rest_ns, -- [ns] of it, without what new workers take
    idle_ns, -- [ns] of a mean step in which the GPU had nothing to do; NULL when not known
    most_idle_ns, -- [ns] the same at most
    least_idle_ns, -- [ns] the same at least, where it was not sampled; NULL where it was
    wait_ns, -- [ns] that a step waits for data while the GPU is idle
    few_ns, -- [ns] of it, that workers enough save
    least_few_ns, -- [ns] the same at least, if two CPUs share a core
    most_few_ns, -- [ns] the same at most, where the use of the GPU is a range
    saved_ns, -- [ns] of it, that workers could take off the training thread: without its sampler and a hand-over
    sampler_ns, -- [ns] in a sampler, on a CPU, while it waits
    draws_each, -- whether that is mostly the order of a pass, drawn in most waits
    handed_ns, -- [ns] of it, that the thread takes batches over from workers; NULL where that is not known
    data_sockets, -- times that it waits on a socket meanwhile
    objects_ns, -- [ns] on a CPU, to make objects of what workers sent, but for tensors; NULL where that is not known
    slow_ns, -- [ns] that loading takes too long
    crowd_ns, -- [ns] that the workers had the CPUs which the computation needed, outside of the wait
    least_crowd_ns, -- [ns] the same at least: while a worker had the CPU that the thread itself wanted
    most_crowd_ns, -- [ns] the same at most, with what it can wait for threads that compute for it and have no CPU
    names, -- functions with the role data_wait; NULL where a DataLoader tells it
    asleep_share, -- share of their time asleep or blocked, 0 to 1; NULL where that is not known
    loads_in_process, -- whether the thread loads data itself (num_workers=0)
    at_once, -- workers alive at once; NULL when none was seen
    waiting_share, -- share of their time waiting for an index, 0 to 1
    blocked_share, -- share blocked on something else but files
    io_share, -- share in reads of files
    cpu_share, -- share of the rest: on a CPU, at most
    copied_share, -- share of that, in reads of what is in memory
    reading, -- share of loading that is reading, 0 to 1
    bytes_per_s, -- [bytes] per second of reading
    load_ns, -- [ns] of workers' time that loading a step's data takes
    load_cpu_ns, -- [ns] of it on a CPU
    workers_needed, -- workers that would keep up, with CPUs enough
    cpus, -- CPUs of the machine; NULL where that is not known
    free_cpus, -- mean CPUs that the job may use and nothing did; NULL where that is not known
    idle_measured, -- whether that was measured
    fetches, -- fetches of the workers; NULL, as what follows, where none takes many times as long as the usual one
    usual_fetch_ns, -- [ns] median of them
    long_fetches, -- those that take many times as long
    long_fetch_ns, -- [ns] median of these
    cause, -- few, transform, storage, tensors, objects, idle, uneven, sampler, unseen, named or unmeasured
    useful_unbound_ns, -- [ns] saved on more CPUs, where it is bound; NULL where it is not, or others use them
    CASE cause
        WHEN 'few' THEN few_ns
        WHEN 'sampler' THEN least(sampler_ns, coalesce(idle_ns, sampler_ns))
        WHEN 'transform' THEN least(
            slow_ns + crowd_ns,
            coalesce(idle_ns, slow_ns + crowd_ns),
            coalesce(useful_unbound_ns, step_ns)
        )
        ELSE least(slow_ns, coalesce(idle_ns, slow_ns))
    END AS lost_ns -- [ns] what a step can lose of its length by what the cause asks for, at most as the GPU is idle
FROM caused
