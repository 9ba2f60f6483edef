-- How often digests hold each finding, and where it costs most.
--
-- needs: held_findings, recordings
-- dialect: common
CREATE VIEW finding_counts AS
WITH
    counted AS (
        SELECT
            finding,
            count(*) AS times,
            count(DISTINCT recording) AS recordings,
            max(lost_ns) AS lost_ns,
            max_by(recording, (coalesce(lost_ns, -1), -recording, -coalesce(pid, 0))) AS recording,
            max_by(coalesce(pid, 0), (coalesce(lost_ns, -1), -recording, -coalesce(pid, 0))) AS pid
        FROM held_findings
        GROUP BY finding
    )
SELECT
    counted.finding, -- name of the finding
    counted.times, -- how often it was made
    counted.recordings, -- recordings in which
    counted.lost_ns, -- [ns] lost per step where it costs most; NULL where it is not about time
    counted.recording, -- recording where it does
    recordings.host, -- machine of that
    nullif(counted.pid, 0) AS pid -- process there, if it is about one
FROM counted
JOIN recordings ON recordings.recording = counted.recording
ORDER BY counted.lost_ns DESC NULLS LAST, counted.times DESC, counted.finding
