-- Kinds of which a recording holds only a sample or a number.
--
-- Their rows with a `count` stand for so many calls that have no row of their own.
--
-- needs: events
CREATE TABLE _sampled AS
WITH
    samples AS (
        SELECT DISTINCT recording, kind
        FROM events
        WHERE count IS NOT NULL AND kind IN ('cuda_launch', 'torch_alloc', 'torch_free')
    )
SELECT
    events.recording, -- recording
    events.kind, -- cuda_launch, torch_alloc or torch_free
    CAST(sum(coalesce(events.count, 1)) AS BIGINT) AS calls, -- calls in all
    count(*) - count(events.count) AS stored, -- calls that have a row of their own
    CAST(sum(events.count) AS BIGINT) AS counted -- calls that have none
FROM events
JOIN samples ON samples.recording = events.recording AND samples.kind = events.kind
WHERE coalesce(events.depth, 0) = 0
GROUP BY ALL
