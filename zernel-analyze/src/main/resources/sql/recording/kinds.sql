-- Kinds of events: whether each was probed, and how many events there are.
--
-- No events of an attached kind means that nothing happened; no events of any other kind means that nobody looked.
-- Kinds with a `time_share` below 1 are detail: events are those of its windows, and of the moments in which these were
-- opened and closed.
--
-- needs: _thread_kinds, footer, _detail_shares
-- digest: kept
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
    CASE
        WHEN shares.windows IS NOT NULL AND coalesce(states.s.why, '') = ''
            THEN format('in {} window{}, {} of the recording',
                shares.windows, CASE WHEN shares.windows = 1 THEN '' ELSE 's' END, share_text(shares.share))
        ELSE states.s.why
    END AS why, -- reason when it is not attached, or in how many windows
    coalesce(counts.events, 0) AS events, -- events stored
    coalesce(shares.share, 1) AS time_share -- share of the time in which it was recorded, 0 to 1
FROM states
FULL JOIN counts ON counts.recording = states.recording AND counts.kind = states.s.kind
LEFT JOIN _detail_shares AS shares
    ON shares.recording = coalesce(states.recording, counts.recording)
    AND shares.kind = coalesce(states.s.kind, counts.kind)
ORDER BY ALL
