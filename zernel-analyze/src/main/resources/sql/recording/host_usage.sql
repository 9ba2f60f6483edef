-- CPUs while a process trained: those of the machine, those it may use, and how many of them were idle.
--
-- The means are of the time of its steps without warm-up, from samples of the kernel's own counters. An idle CPU is one
-- that the process may use by its affinity and its cgroup's quota, and that nothing on the machine used; a thread that
-- waits for a disk leaves its CPU idle. Processes that were recorded and ended between two samples lose the CPU time of
-- the last part of a second in `job_cpus`, not in `busy_cpus`.
--
-- needs: training_threads, _trained, _host_changes, _host_limits, events, recordings
-- digest: kept
CREATE TABLE host_usage AS
WITH
    constants AS (
        SELECT 0.5 AS min_covered -- of the training, so much lies between samples, or nothing is said
    ),
    windows AS (
        SELECT recording, pid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
        FROM _trained
        GROUP BY recording, pid
    ),
    parts AS (
        SELECT
            windows.recording,
            windows.pid,
            changes.pid AS of_pid,
            changes.object,
            changes.name,
            changes.change / (changes.end_ns - changes.start_ns) AS rate,
            least(changes.end_ns, windows.end_ns) - greatest(changes.start_ns, windows.start_ns) AS dur_ns,
            windows.end_ns - windows.start_ns AS window_ns
        FROM windows
        JOIN _host_changes AS changes
            ON changes.recording = windows.recording
            AND changes.start_ns < windows.end_ns
            AND changes.end_ns > windows.start_ns
    ),
    machine AS (
        SELECT
            recording,
            pid,
            sum(dur_ns) FILTER (name = 'cpu_busy') / any_value(window_ns) AS covered,
            sum(rate * dur_ns) FILTER (name = 'cpu_busy') / sum(dur_ns) FILTER (name = 'cpu_busy') AS busy_cpus,
            max(rate) FILTER (name = 'cpu_busy') AS max_busy_cpus,
            sum(rate * dur_ns) FILTER (name = 'cpu_steal') / sum(dur_ns) FILTER (name = 'cpu_steal') AS stolen_cpus,
            sum(rate * dur_ns) FILTER (name = 'cpu_idle') / sum(dur_ns) FILTER (name = 'cpu_idle') AS idle_cpus
        FROM parts
        WHERE of_pid IS NULL AND object IS NULL
        GROUP BY recording, pid
    ),
    own AS (
        SELECT
            recording,
            pid,
            sum(rate * dur_ns) FILTER (name = 'cpu_idle') / sum(dur_ns) FILTER (name = 'cpu_idle') AS idle_cpus
        FROM parts
        WHERE of_pid = pid
        GROUP BY recording, pid
    ),
    jobs AS (
        SELECT recording, pid, sum(rate * dur_ns) / any_value(window_ns) AS cpus
        FROM parts
        WHERE of_pid IS NOT NULL AND name = 'cpu'
        GROUP BY recording, pid
    ),
    groups AS (
        SELECT
            parts.recording,
            parts.pid,
            sum(rate * dur_ns) FILTER (name = 'cgroup_cpu') / sum(dur_ns) FILTER (name = 'cgroup_cpu') AS cpus,
            sum(rate * dur_ns) FILTER (name = 'cgroup_throttled')
                / nullif(sum(rate * dur_ns) FILTER (name = 'cgroup_periods'), 0) AS throttled_share
        FROM parts
        JOIN _host_limits AS limits
            ON limits.recording = parts.recording
            AND limits.pid = parts.pid
            AND limits.cpu_group = parts.object
        WHERE parts.of_pid IS NULL
        GROUP BY parts.recording, parts.pid
    ),
    online AS (
        SELECT recording, max(value) AS cpus
        FROM events
        WHERE kind = 'host_sample' AND name = 'cpus'
        GROUP BY recording
    ),
    trainers AS (
        SELECT DISTINCT recording, pid
        FROM training_threads
    ),
    joined AS (
        SELECT
            trainers.recording,
            trainers.pid,
            coalesce(online.cpus, recordings.cpus) AS cpus,
            limits.allowed_cpus,
            limits.quota_cpus,
            machine.busy_cpus,
            machine.max_busy_cpus,
            machine.stolen_cpus,
            jobs.cpus AS job_cpus,
            groups.throttled_share,
            greatest(
                least(
                    coalesce(own.idle_cpus, machine.idle_cpus),
                    coalesce(limits.allowed_cpus, online.cpus),
                    coalesce(limits.quota_cpus - coalesce(groups.cpus, jobs.cpus, 0), online.cpus)
                ),
                0
            ) AS idle_cpus,
            coalesce(machine.covered >= constants.min_covered, FALSE) AS measured
        FROM trainers
        CROSS JOIN constants
        LEFT JOIN recordings ON recordings.recording = trainers.recording
        LEFT JOIN online ON online.recording = trainers.recording
        LEFT JOIN _host_limits AS limits ON limits.recording = trainers.recording AND limits.pid = trainers.pid
        LEFT JOIN machine ON machine.recording = trainers.recording AND machine.pid = trainers.pid
        LEFT JOIN own ON own.recording = trainers.recording AND own.pid = trainers.pid
        LEFT JOIN jobs ON jobs.recording = trainers.recording AND jobs.pid = trainers.pid
        LEFT JOIN groups ON groups.recording = trainers.recording AND groups.pid = trainers.pid
    )
SELECT
    recording, -- recording
    pid, -- process that trains
    cpus, -- CPUs of the machine
    CASE WHEN measured THEN least(coalesce(allowed_cpus, cpus), coalesce(quota_cpus, cpus)) END
        AS allowed_cpus, -- CPUs that it may use, by affinity and quota; NULL where nothing was measured, as all below
    CASE WHEN measured THEN quota_cpus END AS quota_cpus, -- CPUs of the quota of its cgroup; NULL also without one
    CASE WHEN measured THEN busy_cpus END AS busy_cpus, -- mean CPUs busy, with anything on the machine
    CASE WHEN measured THEN max_busy_cpus END AS max_busy_cpus, -- the most between two samples
    CASE WHEN measured THEN job_cpus END AS job_cpus, -- mean CPUs that all recorded processes used
    CASE WHEN measured THEN idle_cpus END AS idle_cpus, -- mean CPUs that it may use and nothing did
    CASE WHEN measured THEN stolen_cpus END AS stolen_cpus, -- mean CPUs that the hypervisor gave to others
    CASE WHEN measured THEN throttled_share END
        AS throttled_share, -- share of the quota's periods in which the cgroup had used it up, 0 to 1; NULL without one
    measured -- whether samples cover half of the training, at least
FROM joined
ORDER BY recording, pid
