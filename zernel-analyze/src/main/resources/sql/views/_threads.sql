-- Threads seen in the events. One pass over all rows, kept as a table because several views need it.
--
-- A thread is renamed while it lives (python3 becomes pt_data_worker), so there is one row per name.
--
-- needs: events
CREATE TABLE _threads AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    comm, -- name of the thread
    count(*) AS events, -- events of the thread under this name
    min(ts_ns) AS first_ns, -- [ns] start of its first event
    max(ts_ns + coalesce(dur_ns, 0)) AS last_ns -- [ns] end of its last event
FROM events
WHERE pid IS NOT NULL
GROUP BY ALL
