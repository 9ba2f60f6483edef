-- What it costs that training threads are ready to run and have no CPU, and who has it.
--
-- Lost is that time, and that in which it waits on a CPU for threads of its pool (OpenMP) that have none, at most as
-- the GPU is idle by the driver's samples. Where processes that are no part of the training had the CPU for half of it,
-- it is theirs, and only their part counts, but where the quota of its cgroup forbade it to run; so is the time in
-- which a thread of its own had the CPU, where these would have one each without such processes. The recorder's part
-- never counts.
--
-- needs: _cpu_waits, _lateness
CREATE VIEW cpu_waits AS
WITH
    constants AS (
        SELECT 0.5 AS late_share -- of what is lost, by which a rank is late
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
    CASE
        WHEN late.late_ns >= constants.late_share * costs.lost_ns THEN 'late'
        WHEN costs.by_others THEN 'neighbour'
        ELSE 'unseen'
    END AS cause, -- neighbour, unseen, or late: this rank of several is, see late_ranks
    costs.holder, -- who had it most: threads (own), workers, ranks, started, others, nobody or unknown; or recorder
    costs.squeezed, -- whether its own threads took turns, as programs beside the job left too few CPUs: theirs, too
    costs.beside_cpus, -- mean CPUs that these programs used; NULL where that was not measured
    costs.limited, -- whether the quota of its cgroup was used up in most of its periods
    costs.quota_cpus, -- CPUs that this quota amounts to; NULL without one
    costs.throttled_share, -- of its periods, in which it was used up, 0 to 1; NULL where that was not sampled
    costs.crowded, -- whether threads of its own had it that are more than the CPUs
    costs.holder_share, -- share of the time without a CPU in which they had it, 0 to 1
    costs.top_pid, -- the process of these that had it longest
    costs.top_comm, -- its name
    costs.top_share, -- share of the time without a CPU in which it had it, 0 to 1
    costs.nobody_share, -- share of that time in which nobody had it, 0 to 1
    costs.threads, -- threads of the process, with events
    costs.workers, -- data workers of it at once
    costs.share, -- share of the thread's wall time, 0 to 1
    costs.spans, -- times that it waited for a CPU
    costs.preempted, -- of them, those in which another thread took its CPU
    costs.max_ns, -- [ns] longest of them
    costs.other_pid, -- the process that is no part of the training and had it longest
    costs.other_comm, -- its name
    costs.other_pids, -- processes of that name that had it
    costs.other_started, -- whether the training started these itself
    costs.other_share, -- share of the time in which such processes had it, in which it was those of that name, 0 to 1
    costs.threads_share, -- share in which other threads of its own process had it, 0 to 1
    costs.others_share, -- share of the time in which such processes had it, 0 to 1
    costs.cpus -- CPUs of the machine
FROM _cpu_waits AS costs
CROSS JOIN constants
LEFT JOIN _lateness AS late ON late.recording = costs.recording AND late.pid = costs.pid
ORDER BY costs.recording, costs.pid, costs.tid
