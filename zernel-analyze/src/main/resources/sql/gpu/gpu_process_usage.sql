-- Processes on each GPU as the driver saw them: each sampled value with its range.
--
-- needs: events
CREATE VIEW gpu_process_usage AS
SELECT
    recording, -- recording
    device, -- GPU as the driver counts them
    pid, -- process, recorded or not
    arg_max(comm, ts_ns) AS comm, -- its name
    name, -- sm, mem, enc, dec or memory_used
    unit, -- unit of the values
    count(*) AS samples, -- samples
    avg(value) AS mean_value, -- mean
    max(value) AS max_value, -- highest
    arg_max(value, ts_ns) AS last_value -- latest
FROM events
WHERE kind = 'gpu_process'
GROUP BY recording, device, pid, name, unit
ORDER BY recording, device, pid, name
