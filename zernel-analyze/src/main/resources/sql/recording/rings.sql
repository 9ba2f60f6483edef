-- Ring buffers between kernel and recorder, and how full each got.
--
-- A ring that was full lost events. A high-water mark near its size says that it soon will.
--
-- needs: footer
CREATE VIEW rings AS
WITH
    parsed AS (
        SELECT
            recording,
            unnest(from_json(value, '{"rings":[{"ring":"VARCHAR","size_bytes":"BIGINT",
                "high_water_bytes":"BIGINT"}]}').rings) AS r
        FROM footer
        WHERE key = 'zernel.losses'
    )
SELECT
    recording, -- recording
    r.ring AS ring, -- bulk or vital
    r.size_bytes AS size_bytes, -- [bytes] size
    r.high_water_bytes AS high_water_bytes -- [bytes] most that was ever in it
FROM parsed
ORDER BY ALL
