-- In what share of its time each recording holds the kinds that are detail.
--
-- needs: _detail, detail_windows, recordings
CREATE TABLE _detail_shares AS
WITH
    -- Of a part that was cut out, the windows in it.
    sums AS (
        SELECT
            windows.recording,
            count(*) AS windows,
            sum(least(windows.end_ns, recordings.ended_ns) - greatest(windows.start_ns, recordings.started_ns))
                AS dur_ns
        FROM detail_windows AS windows
        JOIN recordings ON recordings.recording = windows.recording
        WHERE windows.start_ns < recordings.ended_ns AND windows.end_ns > recordings.started_ns
        GROUP BY windows.recording
    )
SELECT
    kinds.recording, -- recording
    kinds.kind, -- kind that is detail
    coalesce(sums.windows, 0) AS windows, -- windows in which it was recorded
    least(coalesce(sums.dur_ns, 0) / (recordings.ended_ns - recordings.started_ns), 1) AS share -- of the time, 0 to 1
FROM _detail AS kinds
JOIN recordings ON recordings.recording = kinds.recording
LEFT JOIN sums ON sums.recording = kinds.recording
