-- How many events of each kind each thread has: as recordings say, else by one pass over all rows.
--
-- A thread is renamed while it lives (python3 becomes pt_data_worker), so there is a row per name, too. Footers that do
-- not count every row are not believed.
--
-- needs: events, footer, files
CREATE TABLE _thread_kinds AS
WITH
    said AS (
        SELECT
            recording,
            unnest(
                from_json(
                    value,
                    '[{"pid":"BIGINT","tid":"BIGINT","comm":"VARCHAR","kind":"VARCHAR",'
                        || '"events":"BIGINT","first_ns":"BIGINT","last_ns":"BIGINT"}]'
                ),
                max_depth := 2
            )
        FROM footer
        WHERE key = 'zernel.threads'
    ),
    counted AS (
        SELECT files.recording
        FROM files
        JOIN said ON said.recording = files.recording
        GROUP BY files.recording, files.rows
        HAVING sum(said.events) = files.rows
    ),
    uncounted AS (
        SELECT recording
        FROM files
        ANTI JOIN counted ON counted.recording = files.recording
    )
SELECT
    events.recording,
    events.pid,
    events.tid,
    events.comm,
    events.kind,
    count(*) AS events,
    min(events.ts_ns) AS first_ns,
    max(events.ts_ns + coalesce(events.dur_ns, 0)) AS last_ns
FROM events
JOIN uncounted ON uncounted.recording = events.recording
GROUP BY ALL
UNION ALL
SELECT
    said.recording, -- recording
    said.pid, -- process
    said.tid, -- thread
    said.comm, -- name of the thread
    said.kind, -- kind of event
    CAST(sum(said.events) AS BIGINT) AS events, -- events
    min(said.first_ns) AS first_ns, -- [ns] start of the first
    max(said.last_ns) AS last_ns -- [ns] end of the last
FROM said
JOIN counted ON counted.recording = said.recording
GROUP BY ALL
