-- Memory that a process can still get: what is free of the host, and of the limit of its cgroup.
--
-- File pages count as free: the kernel drops them when memory is short.
--
-- needs: training_threads, _host_limits, events
CREATE VIEW memory_room AS
WITH
    trainers AS (
        SELECT DISTINCT recording, pid
        FROM training_threads
    ),
    host AS (
        SELECT
            recording,
            max(value) FILTER (name = 'memory_total') AS total,
            arg_max(value, ts_ns) FILTER (name = 'memory_available') AS available,
            min(value) FILTER (name = 'memory_available') AS least_available
        FROM events
        WHERE kind = 'host_sample' AND name IN ('memory_total', 'memory_available')
        GROUP BY recording
    ),
    groups AS (
        SELECT recording, object, arg_max(value, ts_ns) AS kept, max(value) AS most_kept
        FROM events
        WHERE kind = 'host_sample' AND name = 'cgroup_kept'
        GROUP BY recording, object
    ),
    places AS (
        SELECT
            trainers.recording,
            trainers.pid,
            'the host' AS place,
            host.total,
            host.available AS room,
            host.total - host.least_available AS most_used
        FROM trainers
        JOIN host ON host.recording = trainers.recording
        WHERE host.total > 0 AND host.available IS NOT NULL
        UNION ALL
        SELECT
            trainers.recording,
            trainers.pid,
            'cgroup ' || limits.memory_group,
            limits.memory_bytes,
            greatest(limits.memory_bytes - groups.kept, 0),
            groups.most_kept
        FROM trainers
        JOIN _host_limits AS limits ON limits.recording = trainers.recording AND limits.pid = trainers.pid
        JOIN groups ON groups.recording = limits.recording AND groups.object = limits.memory_group
    )
SELECT
    recording, -- recording
    pid, -- process that trains
    arg_min(place, room) AS place, -- what is full first: the host, or its cgroup
    arg_min(total, room) AS total_bytes, -- [bytes] that it has
    min(room) AS room_bytes, -- [bytes] free at the end
    arg_min(most_used, room) AS peak_bytes -- [bytes] used at most, by anybody
FROM places
GROUP BY recording, pid
ORDER BY recording, pid
