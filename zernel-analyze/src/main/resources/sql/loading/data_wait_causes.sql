-- Why training waits for data: one row per training thread.
--
-- Waits for workers that start again are left to the view worker_starts. The cause of the rest is `few` (more workers
-- would be in time), `transform` (loading is work on the CPU, and no CPU is left for more workers), `storage` (what
-- loads is mostly in reads, which block in the training process), `tensors` (the thread itself is busy to take many
-- tensors over from the workers), `objects` (the same, to unpickle what they sent), `idle` (the workers
-- wait for indices: handing over is slow), `uneven` (the same, while single fetches take many times as long as the
-- usual one: batches are handed out in order), `sampler` (most of it is in a sampler, in the training process),
-- `unseen` (no worker was recorded), `named` (a function with the role data_wait that does not read), `unmeasured`
-- (nothing says how many CPUs there are, as in a trace that is opened without a recording) or `late` (this rank of
-- several is late by as much, see late_ranks).
-- More workers bring a step to the longest of what the training thread does beside waiting, and of all work on the
-- CPU, its own and that of loading, divided by the CPUs that the job has or could have; loading that mostly waits needs
-- none. Two CPUs may be the two threads of a core, which together do little more than one: at least, CPUs beyond half
-- of the machine's bring a fifth of one each. Transforms also cost what the training thread waits for a CPU that
-- workers have. CPUs that nobody uses are measured (host_usage); where they were not, all that the job does not use
-- itself count as idle, none where workers wait for one, and `idle_measured` says so.
--
-- needs: _data_waits, _lateness
CREATE TABLE data_wait_causes AS
WITH
    constants AS (
        SELECT 0.5 AS late_share -- of what is lost, by which a rank is late
    ),
    caused AS (
        SELECT
            waits.* EXCLUDE (cause, lost_ns),
            CASE WHEN late.late_ns >= constants.late_share * wait_ns THEN 'late' ELSE waits.cause END AS cause,
            waits.lost_ns AS own_lost_ns
        FROM _data_waits AS waits
        LEFT JOIN _lateness AS late ON late.recording = waits.recording AND late.pid = waits.pid
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
    least_idle_ns, -- [ns] the same at least, where it was not sampled; NULL where it was
    CASE cause
        WHEN 'late' THEN least(slow_ns, coalesce(idle_ns, slow_ns))
        ELSE own_lost_ns
    END AS lost_ns, -- [ns] what a step can lose of its length by what the cause asks for, at most as the GPU is idle
    CASE cause
        WHEN 'transform' THEN least(data_ns + most_crowd_ns, coalesce(most_idle_ns, data_ns + most_crowd_ns), step_ns)
        ELSE least(data_ns, coalesce(most_idle_ns, data_ns))
    END AS bound_ns, -- [ns] the same by anything that makes loading faster, at the very most
    CASE WHEN cause = 'few' THEN most_few_ns END
        AS most_few_ns, -- [ns] lost_ns at most, with workers enough, where the use of the GPU is a range
    CASE WHEN cause = 'few' AND least_few_ns < few_ns THEN least_few_ns END
        AS shared_ns, -- [ns] lost_ns at least, if two CPUs share a core; NULL where that makes no difference
    CASE WHEN cause = 'transform' THEN crowd_ns ELSE 0 END
        AS crowd_ns, -- [ns] of it, that the workers had the CPUs which the computation needed, outside of the wait
    CASE WHEN cause = 'transform' THEN least_crowd_ns ELSE 0 END
        AS least_crowd_ns, -- [ns] the same at least: while a worker had the CPU that the thread itself wanted
    CASE WHEN cause = 'transform' THEN most_crowd_ns ELSE 0 END
        AS most_crowd_ns, -- [ns] the same at most, with what it can wait for its own threads that have no CPU
    fetches, -- fetches of the workers; NULL, as what follows, where none takes many times as long as the usual one
    usual_fetch_ns, -- [ns] median of them
    long_fetches, -- those that take many times as long
    long_fetch_ns, -- [ns] median of these
    cause, -- few, transform, storage, tensors, objects, idle, uneven, sampler, unseen, named, unmeasured or late
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
    saved_ns, -- [ns] of the wait, that workers could take off the training thread: without its sampler and a hand-over
    few_ns, -- [ns] of it, that workers save with the CPUs there are
    useful_unbound_ns, -- [ns] saved on more CPUs, where it is bound; NULL where it is not, or others use them
    sampler_ns, -- [ns] in a sampler, on a CPU, while it waits
    draws_each, -- whether that is mostly the order of a pass, drawn in most waits
    handed_ns, -- [ns] of the wait, that the thread takes batches over from workers; NULL where that is not known
    data_sockets, -- times that it waits on a socket meanwhile, as for each tensor
    objects_ns, -- [ns] on a CPU, to make objects of what workers sent, but for tensors; NULL where that is not known
    load_ns, -- [ns] of workers' time that loading a step's data takes; NULL where no worker was seen
    load_cpu_ns / nullif(load_ns, 0) AS load_cpu_share, -- share of loading that is on a CPU, at most, 0 to 1
    CAST(CASE cause
        WHEN 'transform' THEN greatest(workers_needed, ceil(load_ns / greatest(step_ns - wait_ns, 0.01 * step_ns)))
        ELSE workers_needed
    END AS BIGINT) AS workers_needed, -- workers that would keep up, with CPUs enough
    CAST(workers_needed AS BIGINT) AS workers_useful, -- workers that use the CPUs there are
    cpus, -- CPUs of the machine; NULL where that is not known
    free_cpus AS idle_cpus, -- mean CPUs that the job may use and nothing did; NULL where that is not known
    idle_measured -- whether that was measured
FROM caused
ORDER BY recording, pid, tid
