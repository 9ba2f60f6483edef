-- What the training thread wrote to its checkpoints, and how long it waited for storage to have it.
--
-- Writes of less than 4 KiB that take no time are no events, so the bytes are a lower bound. What other threads write
-- is not in it, nor are recordings made before writes were events.
--
-- needs: events, _checkpoint_opens, checkpoint_steps
CREATE TABLE _checkpoint_writes AS
WITH
    writes AS (
        SELECT recording, pid, tid, ts_ns, bytes, CASE WHEN name IN ('fsync', 'fdatasync') THEN dur_ns END AS sync_ns
        FROM events
        WHERE kind = 'io' AND NOT is_read(name) AND path IN (SELECT path FROM _checkpoint_opens)
    )
SELECT
    hits.recording, -- recording
    hits.pid, -- process
    hits.tid, -- training thread
    hits.step, -- number of the step
    CAST(sum(writes.bytes) AS BIGINT) AS bytes, -- [bytes] written
    CAST(coalesce(sum(writes.sync_ns), 0) AS BIGINT) AS sync_ns -- [ns] in fsync
FROM writes
ASOF JOIN checkpoint_steps AS hits
    ON hits.recording = writes.recording
    AND hits.pid = writes.pid
    AND hits.tid = writes.tid
    AND hits.opened_ns <= writes.ts_ns
WHERE writes.ts_ns < hits.opened_ns + hits.dur_ns
GROUP BY hits.recording, hits.pid, hits.tid, hits.step
ORDER BY hits.recording, hits.pid, hits.tid, hits.step
