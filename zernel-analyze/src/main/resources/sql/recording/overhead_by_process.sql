-- What recording cost each recorded process.
--
-- needs: footer
CREATE VIEW overhead_by_process AS
WITH
    parsed AS (
        SELECT
            recording,
            unnest(from_json(value, '{"processes":[{"pid":"BIGINT","events":"BIGINT","share":"DOUBLE"}]}').processes)
                AS p
        FROM footer
        WHERE key = 'zernel.overhead'
    )
SELECT
    recording, -- recording
    p.pid AS pid, -- process
    p.events AS events, -- events of its probed calls
    p.share AS share -- share of one CPU, 0 to 1
FROM parsed
ORDER BY recording, share DESC, pid
