-- Kinds of which a recording holds only a sample or a number.
--
-- Their rows with a `count` stand for so many calls that have no row of their own.
--
-- needs: events
CREATE TABLE _sampled AS
SELECT
    recording, -- recording
    kind, -- cuda_launch, torch_alloc or torch_free
    CAST(sum(coalesce(count, 1)) AS BIGINT) AS calls, -- calls in all
    count(*) - count(count) AS stored, -- calls that have a row of their own
    CAST(sum(count) AS BIGINT) AS counted -- calls that have none
FROM events
WHERE kind IN ('cuda_launch', 'torch_alloc', 'torch_free') AND coalesce(depth, 0) = 0
GROUP BY recording, kind
HAVING count(count) > 0
