-- What it costs that training threads are ready to run and have no CPU, whatever rank is late by it.
--
-- needs: preemption, processes, worker_crews, recordings, host_usage, gpu_busy
-- digest: kept
CREATE TABLE _cpu_waits AS
WITH
    constants AS (
        SELECT 0.5 AS others_share -- part of the time in which other processes were seen on the CPU
    ),
    delays AS (
        SELECT
            preemption.*,
            preemption.others_ns >= constants.others_share * preemption.runq_ns AS by_others,
            preemption.wall_ns / preemption.steps AS step_ns,
            CASE
                WHEN preemption.others_ns >= constants.others_share * preemption.runq_ns THEN preemption.others_ns
                ELSE preemption.runq_ns - preemption.recorder_ns
            END / preemption.steps AS delay_ns
        FROM preemption
        CROSS JOIN constants
        WHERE preemption.steps > 0
    ),
    costs AS (
        SELECT
            delays.*,
            least(delays.delay_ns, busy.idle_ns) AS lost_ns,
            least(delays.delay_ns, busy.most_idle_ns) AS bound_ns,
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
    costs.lost_ns, -- [ns] of it, what a step can lose of its length
    costs.bound_ns, -- [ns] the same, at the very most
    costs.idle_ns, -- [ns] of it, in which the GPU had nothing to do; NULL when not known
    costs.least_idle_ns, -- [ns] the same at least, where it was not sampled; NULL where it was
    costs.by_others, -- whether processes that are no part of the training had the CPU for half of it
    costs.holder, -- who had the CPU most: threads (own), workers, ranks, recorder, others, nobody or unknown
    costs.holder = 'threads' AND costs.crowd >= coalesce(usage.allowed_cpus, recordings.cpus, 1)
        AS crowded, -- whether threads of its own had it that are more than the CPUs
    costs.holder_ns / costs.runq_ns AS holder_share, -- share of the time without a CPU in which they had it, 0 to 1
    costs.top_pid, -- the process that had it longest
    costs.top_comm, -- its name
    costs.top_ns / costs.runq_ns AS top_share, -- share of the time without a CPU in which it had it, 0 to 1
    costs.nobody_ns / costs.runq_ns AS nobody_share, -- share of that time in which nobody had it, 0 to 1
    coalesce(own.threads, 1) AS threads, -- threads of the process, with events
    coalesce(crews.at_once, 0) AS workers, -- data workers of it at once
    costs.share, -- share of the thread's wall time, 0 to 1
    costs.spans, -- times that it waited for a CPU
    costs.preempted, -- of them, those in which another thread took its CPU
    costs.max_ns, -- [ns] longest of them
    costs.other_pid, -- the process that is no part of the training and had it longest
    costs.other_comm, -- its name
    costs.other_ns / nullif(costs.others_ns, 0)
        AS other_share, -- share of the time in which such processes had it, in which it was this one, 0 to 1
    costs.others_ns / costs.runq_ns AS others_share, -- share of the time in which such processes had it, 0 to 1
    recordings.cpus -- CPUs of the machine
FROM costs
LEFT JOIN processes AS own ON own.recording = costs.recording AND own.pid = costs.pid
LEFT JOIN worker_crews AS crews ON crews.recording = costs.recording AND crews.pid = costs.pid
LEFT JOIN recordings ON recordings.recording = costs.recording
LEFT JOIN host_usage AS usage ON usage.recording = costs.recording AND usage.pid = costs.pid
