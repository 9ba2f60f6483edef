-- Kinds of events: whether each was probed, and how many events there are.
--
-- No events of an attached kind means that nothing happened; no events of any other kind means that nobody looked.
--
-- needs: _thread_kinds, footer
CREATE TABLE kinds AS
WITH
    states AS (
        SELECT
            recording,
            unnest(from_json(value, '[{"kind":"VARCHAR","state":"VARCHAR","why":"VARCHAR"}]')) AS s
        FROM footer
        WHERE key = 'zernel.kinds'
    ),
    counts AS (
        SELECT recording, kind, CAST(sum(events) AS BIGINT) AS events
        FROM _thread_kinds
        GROUP BY recording, kind
    )
SELECT
    coalesce(states.recording, counts.recording) AS recording, -- recording
    coalesce(states.s.kind, counts.kind) AS kind, -- kind of event
    coalesce(states.s.state, 'unstated') AS state, -- attached, waiting, off, unavailable, or unstated by the footer
    states.s.why AS why, -- reason when it is not attached
    coalesce(counts.events, 0) AS events -- events stored
FROM states
FULL JOIN counts ON counts.recording = states.recording AND counts.kind = states.s.kind
ORDER BY ALL
