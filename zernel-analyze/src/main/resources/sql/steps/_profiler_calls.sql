-- What PyTorch's profiler does for itself in a process: what begins a profile, and what ends and writes it.
--
-- Regions of its functions tell both. Where these were not probed, files that Kineto, which is inside, opens tell it:
-- before its first profile its settings, and at the end of each profile the command line of its own process. Without an
-- end a begin is none.
--
-- needs: _rare_events, events, probes
CREATE TABLE _profiler_calls AS
WITH
    probed AS (
        SELECT DISTINCT recording
        FROM probes
        WHERE state = 'attached' AND symbol LIKE '%disableProfiler%'
    ),
    opens AS (
        SELECT
            recording,
            pid,
            ts_ns,
            path,
            min(CASE WHEN parse_filename(path) = 'libkineto.conf' THEN ts_ns END) OVER (PARTITION BY recording, pid)
                AS begin_ns
        FROM events
        ANTI JOIN probed ON probed.recording = events.recording
        WHERE kind = 'io_open'
            AND (parse_filename(path) = 'libkineto.conf' OR path = format('/proc/{}/cmdline', pid))
    ),
    ends AS (
        SELECT recording, pid, begin_ns, ts_ns
        FROM opens
        WHERE path LIKE '/proc/%' AND ts_ns >= begin_ns
    )
SELECT
    recording, -- recording
    pid, -- process
    ts_ns AS start_ns, -- [ns] when the call began
    ts_ns + dur_ns AS end_ns, -- [ns] when it ended
    name NOT LIKE '%::disableProfiler' AND name NOT LIKE '%::save' AS begins -- whether it begins a profile, or ends it
FROM _rare_events
WHERE kind = 'region' AND name LIKE 'torch::autograd::profiler::%'
UNION ALL
SELECT recording, pid, ts_ns, ts_ns, FALSE
FROM ends
UNION ALL
SELECT DISTINCT recording, pid, begin_ns, begin_ns, TRUE
FROM ends
