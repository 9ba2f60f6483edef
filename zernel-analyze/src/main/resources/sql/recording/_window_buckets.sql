-- Time buckets of 2^30 ns in which there are windows of detail, by which events are found that lie in one.
--
-- needs: _detail, detail_windows
CREATE TABLE _window_buckets AS
SELECT
    windows.recording, -- recording
    kinds.kind, -- kind that is detail
    windows.number, -- number of the window
    windows.start_ns, -- [ns] when it began
    windows.end_ns, -- [ns] when it ended
    unnest(range(windows.start_ns >> 30, (windows.end_ns >> 30) + 1)) AS bucket -- number of the bucket
FROM detail_windows AS windows
JOIN _detail AS kinds ON kinds.recording = windows.recording
