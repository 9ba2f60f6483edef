-- What each GPU did from each moment to the next at which that changed, within the time that was profiled.
--
-- needs: gpu_activity, gpu_traces
CREATE TABLE _gpu_spans AS
WITH
    edges AS (
        SELECT
            recording,
            pid,
            device,
            work,
            work = 'copy' AND regexp_matches(name, 'HtoD|DtoD|PtoP|HostToDevice|DeviceToDevice|[Mm]emset') AS feeds,
            unnest([start_ns, end_ns]) AS at_ns,
            unnest([1, -1]) AS change
        FROM gpu_activity
    ),
    moments AS (
        SELECT
            recording,
            pid,
            device,
            at_ns,
            sum(CASE WHEN work = 'compute' THEN change ELSE 0 END) AS compute,
            sum(CASE WHEN work = 'communication' THEN change ELSE 0 END) AS communication,
            sum(CASE WHEN work = 'copy' THEN change ELSE 0 END) AS copy,
            sum(CASE WHEN feeds THEN change ELSE 0 END) AS feeding
        FROM edges
        GROUP BY ALL
    ),
    levels AS (
        SELECT
            recording,
            pid,
            device,
            at_ns AS start_ns,
            lead(at_ns) OVER device_order AS end_ns,
            sum(compute) OVER device_order > 0 AS compute,
            sum(communication) OVER device_order > 0 AS communication,
            sum(copy) OVER device_order > 0 AS copy,
            sum(feeding) OVER device_order > 0 AS feeding
        FROM moments
        WINDOW device_order AS (PARTITION BY recording, pid, device ORDER BY at_ns)
    )
SELECT
    levels.recording, -- recording
    levels.pid, -- process
    levels.device, -- GPU
    levels.start_ns, -- [ns] from
    levels.end_ns, -- [ns] to
    levels.end_ns - levels.start_ns AS dur_ns, -- [ns] wall time
    levels.compute, -- whether a kernel ran that is no communication
    levels.communication, -- whether a kernel ran that is
    levels.copy, -- whether a copy or fill ran
    levels.feeding -- whether one ran that is no copy to the host
FROM levels
WHERE levels.end_ns IS NOT NULL
    AND (
        levels.compute
        OR levels.communication
        OR levels.copy
        OR EXISTS (
            -- Between two traces nobody looked.
            SELECT 1
            FROM gpu_traces AS traces
            WHERE traces.recording = levels.recording
                AND traces.pid = levels.pid
                AND traces.started_ns <= levels.start_ns
                AND traces.ended_ns >= levels.end_ns
        )
    )
