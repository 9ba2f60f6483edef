-- What the host and the recorded processes used over time: CPUs, memory and network.
--
-- Counters are shown by their growth: a value from one sample to the next stands where the first of the two is.
--
-- needs: events, _host_changes
CREATE VIEW host_curve AS
WITH
    levels AS (
        SELECT recording, pid, object, name, 'bytes' AS unit, ts_ns AS at_ns, value
        FROM events
        WHERE kind = 'host_sample'
            AND name IN ('rss', 'pss', 'private', 'memory_available', 'cgroup_memory', 'cgroup_kept')
    ),
    rates AS (
        SELECT
            recording,
            pid,
            object,
            name,
            CASE WHEN name IN ('net_rx', 'net_tx') THEN 'bytes/s' ELSE '% of a CPU' END AS unit,
            start_ns AS at_ns,
            CAST(change * CASE WHEN name IN ('net_rx', 'net_tx') THEN 1e9 ELSE 100 END / (end_ns - start_ns) AS BIGINT)
                AS value
        FROM _host_changes
        WHERE name IN ('cpu_busy', 'cpu_steal', 'cpu', 'cgroup_cpu', 'net_rx', 'net_tx')
    ),
    both_sorts AS (
        SELECT recording, pid, object, name, unit, at_ns, value FROM levels
        UNION ALL
        SELECT recording, pid, object, name, unit, at_ns, value FROM rates
    )
SELECT
    recording, -- recording
    pid, -- process; NULL for the host
    object, -- cgroup or link; NULL for the host as a whole, and for processes
    name, -- cpu_busy, cpu, rss, net_rx, ...
    unit, -- unit of value
    at_ns, -- [ns] when
    value -- the level, or the rate until the next sample
FROM both_sorts
ORDER BY recording, pid, object, name, at_ns
