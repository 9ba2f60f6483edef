-- Events were lost. Counts and sums of these kinds are lower bounds, and steps or phases may be missing pieces.
--
-- needs: losses, files
-- severity: high from 1 % of the kind's events, medium from 0.1 %
-- hint: vital kinds (regions, processes) have a ring of their own, so a flood of others cannot push them out
WITH
    thresholds AS (
        SELECT
            0.01 AS high_share, -- lost share of a kind's events
            0.001 AS medium_share -- lost share of a kind's events
    )
SELECT
    losses.recording, -- recording
    recording_label(losses.recording)
        || 'kind ' || losses.kind AS subject, -- kind that lost events
    losses.lost AS value, -- events lost
    'events' AS unit, -- unit of value
    CASE
        WHEN losses.share >= thresholds.high_share THEN 'high'
        WHEN losses.share >= thresholds.medium_share THEN 'medium'
        ELSE 'low'
    END AS severity, -- high, medium or low
    format('{} lost, {} stored: {:.2f} % of what happened', losses.lost, losses.stored, 100 * losses.share)
        AS evidence, -- what it rests on
    'record fewer processes (-p) or fewer kinds, so that the rings keep up' AS advice, -- what to try
    'zernel-analyze sql {} "FROM rings"' AS next_command -- to see more
FROM losses
CROSS JOIN thresholds
