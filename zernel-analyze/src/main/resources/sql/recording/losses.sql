-- Events that happened and could not be stored, by kind.
--
-- The footer holds the exact sums; `lost` events say when it happened. A recording that never reached its footer has
-- only the latter, so the larger of the two counts.
--
-- needs: events, _thread_kinds, footer
-- digest: kept
CREATE TABLE losses AS
WITH
    totals AS (
        SELECT
            recording,
            unnest(map_entries(from_json(value, '{"by_kind":"MAP(VARCHAR, BIGINT)"}').by_kind)) AS entry
        FROM footer
        WHERE key = 'zernel.losses'
    ),
    reports AS (
        SELECT recording, name AS kind, CAST(sum(count) AS BIGINT) AS lost
        FROM events
        WHERE kind = 'lost'
        GROUP BY ALL
    ),
    merged AS (
        SELECT
            coalesce(totals.recording, reports.recording) AS recording,
            coalesce(totals.entry.key, reports.kind) AS kind,
            greatest(coalesce(totals.entry.value, 0), coalesce(reports.lost, 0)) AS lost
        FROM totals
        FULL JOIN reports ON reports.recording = totals.recording AND reports.kind = totals.entry.key
    ),
    stored AS (
        SELECT recording, kind, CAST(sum(events) AS BIGINT) AS events
        FROM _thread_kinds
        GROUP BY recording, kind
    )
SELECT
    merged.recording, -- recording
    merged.kind, -- kind of the lost events
    merged.lost, -- events lost
    coalesce(stored.events, 0) AS stored, -- events of that kind that were stored
    merged.lost / (merged.lost + coalesce(stored.events, 0)) AS share -- lost share of what happened, 0 to 1
FROM merged
LEFT JOIN stored ON stored.recording = merged.recording AND stored.kind = merged.kind
WHERE merged.lost > 0
ORDER BY ALL
