-- Collectives that several ranks were seen to call: one row per call, for connecting those of one collective.
--
-- needs: _collective_calls
CREATE TABLE _rank_flows AS
WITH
    placed AS (
        SELECT
            recording,
            pid,
            tid,
            ts_ns,
            dense_rank() OVER (ORDER BY comm_id, number) AS flow,
            row_number() OVER (PARTITION BY comm_id, number ORDER BY ts_ns, recording, pid) AS place,
            count(*) OVER (PARTITION BY comm_id, number) AS calls
        FROM _collective_calls
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    ts_ns, -- [ns] when it called
    flow, -- number of the collective among all of the job, from 1
    place = 1 AS is_first, -- whether no other rank called it before
    place = calls AS is_last -- whether no other rank called it after
FROM placed
WHERE calls > 1
