-- Findings that digests hold because they need events: a row for each, none where recordings are open.
--
-- needs: files
CREATE VIEW held_findings AS
SELECT
    CAST(path AS STRING) AS finding, -- name of the finding
    CAST(recording AS BIGINT) AS recording, -- recording
    CAST(NULL AS BIGINT) AS pid, -- process that it is about, if one
    CAST(NULL AS DOUBLE) AS lost_ns -- [ns] lost per step, by an estimate; NULL where it is not about time
FROM files
WHERE FALSE
