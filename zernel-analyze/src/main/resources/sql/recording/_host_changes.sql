-- What the counters of the host and of recorded processes grew by, from one sample to the next.
--
-- Counters run since the machine, the process or the link started. One that is smaller than before started again, and
-- has no change there; idle time may go back by what the kernel estimated too much.
--
-- needs: events
CREATE TABLE _host_changes AS
WITH
    samples AS (
        SELECT
            recording,
            pid,
            object,
            name,
            lag(ts_ns) OVER counter AS start_ns,
            ts_ns AS end_ns,
            value - lag(value) OVER counter AS change
        FROM events
        WHERE kind = 'host_sample'
            AND name NOT IN (
                'cpus', 'cpus_allowed', 'cpu_quota', 'memory_limit', 'memory_total', 'memory_available', 'rss', 'pss',
                'private', 'threads', 'cgroup_memory', 'cgroup_kept', 'net_speed'
            )
        WINDOW counter AS (PARTITION BY recording, pid, object, name ORDER BY ts_ns)
    )
SELECT
    recording, -- recording
    pid, -- process; NULL for the host
    object, -- cgroup or link; NULL for the host as a whole, and for processes
    name, -- the counter
    start_ns, -- [ns] sample before
    end_ns, -- [ns] this sample
    CASE WHEN name IN ('cpu_idle', 'cpu_iowait') THEN greatest(change, 0) ELSE change END AS change -- by how much
FROM samples
WHERE end_ns > start_ns AND (change >= 0 OR name IN ('cpu_idle', 'cpu_iowait'))
