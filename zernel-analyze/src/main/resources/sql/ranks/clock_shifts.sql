-- What to add to a recording's times to have them by the clock of the first one.
--
-- One amount for a whole recording, so that what a thread did stays in its order: the middle of what host_clocks found
-- in its stretches. What clocks drifted apart meanwhile is part of the error.
--
-- needs: recording_clocks, host_clocks
CREATE VIEW clock_shifts AS
WITH
    measured AS (
        SELECT
            clock,
            quantile_disc(offset_ns, 0.5) AS offset_ns,
            max(error_ns) + (max(offset_ns) - min(offset_ns)) // 2 AS error_ns
        FROM host_clocks
        GROUP BY clock
    )
SELECT
    clocks.recording, -- recording
    clocks.host, -- machine by name, if known
    CAST(clocks.shift_ns - coalesce(measured.offset_ns, 0) AS BIGINT) AS shift_ns, -- [ns] to add to its times
    CASE
        WHEN clocks.clock = first_value(clocks.clock) OVER (ORDER BY clocks.recording) THEN 0
        ELSE measured.error_ns
    END AS error_ns -- [ns] by which that may be off, +-; NULL where the clocks cannot be compared
FROM recording_clocks AS clocks
LEFT JOIN measured ON measured.clock = clocks.clock
ORDER BY clocks.recording
