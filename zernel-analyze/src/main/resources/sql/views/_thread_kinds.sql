-- How many events of each kind each thread has: one pass over all rows, for every view that counts them.
--
-- A thread is renamed while it lives (python3 becomes pt_data_worker), so there is a row per name, too.
--
-- needs: events
CREATE TABLE _thread_kinds AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    comm, -- name of the thread
    kind, -- kind of event
    count(*) AS events, -- events
    min(ts_ns) AS first_ns, -- [ns] start of the first
    max(ts_ns + coalesce(dur_ns, 0)) AS last_ns -- [ns] end of the last
FROM events
GROUP BY ALL
