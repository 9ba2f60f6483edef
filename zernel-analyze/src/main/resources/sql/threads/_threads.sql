-- Threads seen in the events.
--
-- A thread is renamed while it lives (python3 becomes pt_data_worker), so there is one row per name. Samples
-- count neither as events nor for when a thread began and ended: they come also while it does nothing recorded.
--
-- needs: _thread_kinds
CREATE TABLE _threads AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    comm, -- name of the thread
    CAST(sum(events) AS BIGINT) AS events, -- events of the thread under this name
    min(first_ns) AS first_ns, -- [ns] start of its first event
    max(last_ns) AS last_ns -- [ns] end of its last event
FROM _thread_kinds
WHERE pid IS NOT NULL AND tid IS NOT NULL AND kind <> 'sample'
GROUP BY ALL
