-- Threads of no pool for operators: those that train, those that launch for them, and those that run Python.
--
-- needs: training_threads, _launching_threads, _python_threads
CREATE TABLE _threads_of_no_pool AS
SELECT
    recording, -- recording
    pid, -- process
    tid -- thread
FROM training_threads
UNION
SELECT recording, pid, tid
FROM _launching_threads
UNION
SELECT recording, pid, tid
FROM _python_threads;

-- How long training threads are on a CPU while other threads of their process are ready and have none.
--
-- Operators share their work with the threads of a pool, and a thread that has done its part waits for theirs on the
-- CPU (OpenMP): while one of the pool has no CPU, all of that time is lost, though the training thread has one. Time in
-- which the recorder has the CPU is left out.
--
-- needs: _step_samples, _stack_frames, _switches, _threads_of_no_pool, recordings
CREATE TABLE _pool_waits AS
WITH
    computing AS (
        SELECT
            samples.recording,
            samples.pid,
            samples.tid,
            samples.middle_ns AS at_ns,
            samples.ns,
            _is_openmp(frames.file) AS waits
        FROM _step_samples AS samples
        LEFT JOIN _stack_frames AS frames ON frames.id = samples.id AND frames.frame = 0
    ),
    -- Of a process with stacks, that trains.
    ready AS (
        SELECT
            switches.recording,
            switches.pid,
            switches.ts_ns + coalesce(switches.dur_ns, switches.runq_ns) - switches.runq_ns AS from_ns,
            switches.ts_ns + coalesce(switches.dur_ns, switches.runq_ns) AS until_ns,
            coalesce(switches.other_pid = switches.pid, FALSE) AS own
        FROM _switches AS switches
        SEMI JOIN computing ON computing.recording = switches.recording AND computing.pid = switches.pid
        JOIN recordings ON recordings.recording = switches.recording
        ANTI JOIN _threads_of_no_pool AS known
            ON known.recording = switches.recording
            AND known.pid = switches.pid
            AND known.tid = switches.tid
        WHERE switches.runq_ns > 0 AND (switches.other_pid = recordings.recorder_pid) IS NOT TRUE
    ),
    -- Several may be ready at once.
    met AS (
        SELECT recording, pid, tid, at_ns, ns, waits, bool_and(own) AS own
        FROM in_spans(computing, ready)
        GROUP BY recording, pid, tid, at_ns, ns, waits
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    sum(ns) AS beside_ns, -- [ns] on a CPU, while another thread of its process was ready and had none
    sum(CASE WHEN waits THEN ns ELSE 0 END) AS waited_ns, -- [ns] of it, waiting for its pool of threads
    sum(CASE WHEN own THEN ns ELSE 0 END) AS own_beside_ns, -- [ns] of beside_ns, where the process itself had that CPU
    sum(CASE WHEN own AND waits THEN ns ELSE 0 END) AS own_waited_ns -- [ns] of waited_ns, likewise
FROM met
GROUP BY recording, pid, tid;

-- What pools of threads compute while their process trains, by samples: not where they wait for each other.
--
-- needs: stack_events, _stack_frames, _threads_of_no_pool, steps
CREATE TABLE _pool_work AS
WITH
    trained AS (
        SELECT recording, pid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY recording, pid
    )
SELECT
    samples.recording, -- recording
    samples.pid, -- process
    sum(samples.ns) AS work_ns -- [ns] on a CPU, of all threads
FROM stack_events AS samples
JOIN trained
    ON trained.recording = samples.recording
    AND trained.pid = samples.pid
    AND trained.start_ns <= samples.middle_ns
    AND trained.end_ns > samples.middle_ns
LEFT JOIN _stack_frames AS frames ON frames.id = samples.id AND frames.frame = 0
ANTI JOIN _threads_of_no_pool AS known
    ON known.recording = samples.recording
    AND known.pid = samples.pid
    AND known.tid = samples.tid
WHERE samples.kind = 'sample' AND NOT coalesce(_is_openmp(frames.file), FALSE)
GROUP BY samples.recording, samples.pid;

-- What it costs that training threads are ready to run and have no CPU, whatever rank is late by it.
--
-- The time counts, too, in which the thread has a CPU and waits there for threads of its pool that have none; at most,
-- all that it has one while they have none. Where programs beside the job have the CPUs, at most it is all time without
-- one, whoever has it: without these programs, the recorder has a CPU of its own, too. Where the threads of the process
-- are no more than the CPUs and still take turns, others have the rest: data workers, other programs, the recorder. If
-- these had the thread's CPU, too, what its own threads cost each other is not counted: without its pool, the thread
-- would do that work itself. It is where the pool does less than half as much as it costs, as where operators are
-- small, unless the recorder had the CPU for longer than its own threads.
--
-- needs: preemption, processes, worker_crews, recordings, host_usage, gpu_busy, _pool_waits, _pool_work
-- digest: kept
CREATE TABLE _cpu_waits AS
WITH
    constants AS (
        SELECT
            0.5 AS others_share, -- part of the time in which other processes were seen on the CPU
            0.5 AS work_share, -- of what turns cost, that a pool computes at least, so that fewer threads do not help
            0.5 AS beside_share, -- of the time in which its own threads had the CPU, for which others had it
            0.5 AS limited_share, -- of the periods of the cgroup's quota, in which it was used up
            0.5 AS beside_cpus, -- CPUs that programs beside the job use, from which on they squeeze it
            0.25 AS idle_cpus -- CPUs that nothing uses, from which on they do not
    ),
    held AS (
        SELECT
            preemption.*,
            coalesce(usage.throttled_share >= constants.limited_share, FALSE) AS limited,
            usage.quota_cpus,
            usage.allowed_cpus,
            usage.throttled_share,
            usage.busy_cpus - usage.job_cpus AS beside_cpus,
            -- Its threads are no more than the CPUs: where they take turns on one, others have the rest.
            coalesce(
                usage.busy_cpus - usage.job_cpus >= constants.beside_cpus
                    AND usage.idle_cpus < constants.idle_cpus
                    AND preemption.crowd < usage.allowed_cpus
                    AND preemption.others_ns + preemption.threads_ns >= constants.others_share * preemption.runq_ns,
                FALSE
            ) AS squeezed,
            NOT limited
                AND NOT squeezed
                AND preemption.crowd < coalesce(usage.allowed_cpus, recordings.cpus, 1)
                AND preemption.holder = 'threads'
                AND (
                    preemption.recorder_ns > 0 AND preemption.recorder_ns >= preemption.threads_ns
                    OR preemption.others_ns + preemption.workers_ns + preemption.recorder_ns
                            >= constants.beside_share * preemption.threads_ns
                        AND coalesce(work.work_ns, 0)
                            >= constants.work_share * (preemption.threads_ns + coalesce(pools.own_waited_ns, 0))
                ) AS turns,
            preemption.runq_ns - preemption.recorder_ns - CASE WHEN turns THEN preemption.threads_ns ELSE 0 END
                AS left_ns,
            preemption.others_ns >= constants.others_share * CASE WHEN turns THEN left_ns ELSE preemption.runq_ns END
                AND preemption.others_ns > 0 AS others,
            CASE
                WHEN turns THEN {
                    'holder': preemption.beside_holder,
                    'holder_ns': preemption.beside_holder_ns,
                    'pid': preemption.beside_top_pid,
                    'comm': preemption.beside_top_comm,
                    'ns': preemption.beside_top_ns
                }
                ELSE {
                    'holder': preemption.holder,
                    'holder_ns': preemption.holder_ns,
                    'pid': preemption.top_pid,
                    'comm': preemption.top_comm,
                    'ns': preemption.top_ns
                }
            END AS told,
            coalesce(pools.waited_ns, 0) - CASE WHEN turns THEN coalesce(pools.own_waited_ns, 0) ELSE 0 END
                AS pool_waited_ns,
            coalesce(pools.beside_ns, 0) - CASE WHEN turns THEN coalesce(pools.own_beside_ns, 0) ELSE 0 END
                AS pool_beside_ns
        FROM preemption
        CROSS JOIN constants
        LEFT JOIN _pool_waits AS pools
            ON pools.recording = preemption.recording
            AND pools.pid = preemption.pid
            AND pools.tid = preemption.tid
        LEFT JOIN _pool_work AS work ON work.recording = preemption.recording AND work.pid = preemption.pid
        LEFT JOIN host_usage AS usage ON usage.recording = preemption.recording AND usage.pid = preemption.pid
        LEFT JOIN recordings ON recordings.recording = preemption.recording
        WHERE preemption.steps > 0
    ),
    -- While a quota is used up, the thread may not run, and whoever runs then keeps it from nothing.
    delays AS (
        SELECT
            held.*,
            (held.others OR held.squeezed) AND NOT held.limited AS by_others,
            held.wall_ns / held.steps AS step_ns,
            held.pool_waited_ns / held.steps AS pool_ns,
            held.pool_beside_ns / held.steps AS beside_ns,
            CASE
                WHEN held.squeezed AND NOT held.limited THEN held.others_ns + held.threads_ns
                WHEN held.others AND NOT held.limited THEN held.others_ns
                ELSE held.left_ns
            END / held.steps AS delay_ns
        FROM held
    ),
    costs AS (
        SELECT
            delays.*,
            least(delays.delay_ns + delays.pool_ns, busy.idle_ns) AS lost_ns,
            least(
                CASE WHEN delays.by_others THEN delays.runq_ns / delays.steps ELSE delays.delay_ns END
                    + delays.beside_ns,
                busy.most_idle_ns
            ) AS bound_ns,
            -- As what is lost.
            nullif(delays.left_ns, 0) AS told_ns,
            busy.idle_ns,
            busy.least_idle_ns
        FROM delays
        LEFT JOIN gpu_busy AS busy ON busy.recording = delays.recording AND busy.pid = delays.pid
    )
SELECT
    costs.recording, -- recording
    costs.pid, -- process
    costs.tid, -- training thread
    costs.steps, -- steps
    costs.step_ns, -- [ns] mean step
    costs.delay_ns, -- [ns] of it, ready without a CPU
    costs.pool_ns, -- [ns] of it, on a CPU, where it waits for threads of its pool that have none
    costs.lost_ns, -- [ns] of it, what a step can lose of its length
    costs.bound_ns, -- [ns] the same, at the very most
    costs.idle_ns, -- [ns] of it, in which the GPU had nothing to do; NULL when not known
    costs.least_idle_ns, -- [ns] the same at least, where it was not sampled; NULL where it was
    costs.limited, -- whether the quota of its cgroup was used up in most of its periods
    costs.quota_cpus, -- CPUs that this quota amounts to; NULL without one
    costs.throttled_share, -- of its periods, in which it was used up, 0 to 1; NULL where that was not sampled
    costs.by_others, -- whether processes that are no part of the training had the CPU for half of it, without a limit
    costs.squeezed AND NOT costs.limited
        AS squeezed, -- whether its own threads took turns, as programs beside the job left too few CPUs: theirs, too
    costs.beside_cpus, -- mean CPUs that these programs used; NULL where that was not measured
    costs.told.holder
        AS holder, -- who had it most: threads (own), workers, ranks, started, others, nobody or unknown; or recorder
    costs.holder = 'threads' AND costs.crowd >= coalesce(costs.allowed_cpus, recordings.cpus, 1)
        AS crowded, -- whether threads of its own had it that are more than the CPUs
    costs.told.holder_ns / costs.told_ns
        AS holder_share, -- share of the time without a CPU in which they had it, 0 to 1
    costs.told.pid AS top_pid, -- the process of these that had it longest
    costs.told.comm AS top_comm, -- its name
    costs.told.ns / costs.told_ns AS top_share, -- share of the time without a CPU in which it had it, 0 to 1
    costs.nobody_ns / costs.told_ns AS nobody_share, -- share of that time in which nobody had it, 0 to 1
    coalesce(own.threads, 1) AS threads, -- threads of the process, with events
    coalesce(crews.at_once, 0) AS workers, -- data workers of it at once
    costs.share, -- share of the thread's wall time, 0 to 1
    costs.spans, -- times that it waited for a CPU
    costs.preempted, -- of them, those in which another thread took its CPU
    costs.max_ns, -- [ns] longest of them
    costs.other_pid, -- the process that is no part of the training and had it longest
    costs.other_comm, -- its name
    costs.other_pids, -- processes of that name that had it
    costs.other_started, -- whether the training started these itself
    costs.other_ns / nullif(costs.others_ns, 0)
        AS other_share, -- share of the time in which such processes had it, in which it was those of that name, 0 to 1
    CASE WHEN costs.turns THEN 0 ELSE costs.threads_ns / costs.told_ns END
        AS threads_share, -- share in which other threads of its own process had it, 0 to 1; 0 where that is not counted
    costs.others_ns / costs.runq_ns AS others_share, -- share of the time in which such processes had it, 0 to 1
    recordings.cpus -- CPUs of the machine
FROM costs
LEFT JOIN processes AS own ON own.recording = costs.recording AND own.pid = costs.pid
LEFT JOIN worker_crews AS crews ON crews.recording = costs.recording AND crews.pid = costs.pid
LEFT JOIN recordings ON recordings.recording = costs.recording
