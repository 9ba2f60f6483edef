-- What each recorded process may use: CPUs by its affinity and its cgroup's quota, and memory.
--
-- needs: events
CREATE TABLE _host_limits AS
SELECT
    recording, -- recording
    pid, -- process
    arg_max(value, ts_ns) FILTER (name = 'cpus_allowed') AS allowed_cpus, -- CPUs that it may run on; NULL if not known
    arg_max(value, ts_ns) FILTER (name = 'cpu_quota') / 1000 AS quota_cpus, -- CPUs' time that it may use; NULL for all
    arg_max(object, ts_ns) FILTER (name = 'cpu_quota') AS cpu_group, -- the cgroup that says so
    arg_max(value, ts_ns) FILTER (name = 'memory_limit') AS memory_bytes, -- [bytes] it may use; NULL for all
    arg_max(object, ts_ns) FILTER (name = 'memory_limit') AS memory_group -- the cgroup that says so
FROM events
WHERE kind = 'host_sample'
    AND name IN ('cpus_allowed', 'cpu_quota', 'memory_limit')
    AND pid IS NOT NULL
GROUP BY recording, pid
