-- Traces of PyTorch's profiler that were opened with the recordings, and how well their clocks agree.
--
-- Times in which the recorder itself asked CUPTI (`--gpu-activity`) are rows too.
--
-- A trace has the time of day, a recording the monotonic clock and an offset. `shift_ns` is what was added to the
-- trace's times: by the calls of CUDA that both hold, or 0 where too few were found; then the times of day are all
-- there is to go by, and `error_ns` is what these may differ by.
--
-- needs: footer
CREATE TABLE gpu_traces AS
WITH
    traces AS (
        SELECT
            recording,
            unnest(from_json(value, '[{"path":"VARCHAR","pid":"BIGINT","rank":"BIGINT","activities":"BIGINT",
                "calls":"BIGINT","functions":"BIGINT","skipped":"BIGINT","skipped_because":"MAP(VARCHAR, BIGINT)",
                "started_ns":"BIGINT","ended_ns":"BIGINT","clock":"VARCHAR","shift_ns":"BIGINT","error_ns":"BIGINT",
                "matched":"BIGINT"}]')) AS t
        FROM footer
        WHERE key = 'zernel.gpu_traces'
    ),
    asked AS (
        SELECT
            recording,
            unnest(from_json(value, '{"processes":[{"pid":"BIGINT","error_ns":"BIGINT","windows":[{"start_ns":"BIGINT",
                "end_ns":"BIGINT","activities":"BIGINT"}]}]}').processes) AS p
        FROM footer
        WHERE key = 'zernel.gpu_activity'
    ),
    windows AS (
        SELECT recording, p.pid AS pid, p.error_ns AS error_ns, unnest(p.windows) AS w
        FROM asked
    )
SELECT
    recording, -- recording that it was joined to
    t.path AS path, -- file of the trace; NULL for what was recorded by CUPTI, a row for each window
    t.pid AS pid, -- process it is of
    t.rank AS rank, -- its rank in the job, if the trace says so
    t.activities AS activities, -- kernels, copies and fills in it; 0 where the GPU was not profiled
    t.calls AS calls, -- calls of CUDA in it
    t.functions AS functions, -- functions of Python that the profiler followed, with stacks; those of all its processes
    t.skipped AS skipped, -- events that could not be used
    array_to_string(map_keys(t.skipped_because), ', ') AS skipped_because, -- what was wrong with them
    t.started_ns AS started_ns, -- [ns] when the first activity began
    t.ended_ns AS ended_ns, -- [ns] when the last one ended
    t.clock AS clock, -- what the times were compared by: calls, time of day, cupti, or its own: not compared
    t.shift_ns AS shift_ns, -- [ns] that was added to its times
    t.error_ns AS error_ns, -- [ns] by which they may be off, +-
    t.matched AS matched -- calls that were found in both
FROM traces
UNION ALL
SELECT recording, NULL, pid, NULL, w.activities, 0, 0, 0, '', w.start_ns, w.end_ns, 'cupti', 0, error_ns, 0
FROM windows
ORDER BY recording, started_ns, path
