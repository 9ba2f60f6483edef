-- Columns as the recorder describes them, with units.
--
-- needs: footer
CREATE VIEW recorded_columns AS
WITH
    parsed AS (
        SELECT
            recording,
            unnest(from_json(value, '{"columns":[{"name":"VARCHAR","type":"VARCHAR","unit":"VARCHAR",
                "comment":"VARCHAR"}]}').columns) AS c
        FROM footer
        WHERE key = 'zernel.schema'
    )
SELECT
    recording, -- recording
    c.name AS name, -- column
    c.type AS type, -- BIGINT or VARCHAR
    c.unit AS unit, -- ns, bytes or none
    c.comment AS comment -- what it holds
FROM parsed
