-- Kinds of events that a recording holds in windows of time only: its detail.
--
-- These are calls that come by the thousand in a step. Recordings without a row here hold every kind all the time.
--
-- needs: footer
CREATE TABLE _detail AS
WITH
    parsed AS (
        SELECT
            recording,
            from_json(value, '{"kinds":["VARCHAR"],"windows":[{"start_ns":"BIGINT"}]}') AS d
        FROM footer
        WHERE key = 'zernel.detail'
    )
SELECT
    recording, -- recording
    unnest(list_distinct(d.kinds)) AS kind -- kind that is detail
FROM parsed
WHERE d.windows IS NOT NULL
