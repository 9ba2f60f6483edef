-- How much each thread of GPU processes without regions launches, in 64 equal parts of the time.
--
-- Regions are those that tell steps. Of a process whose launches were not recorded, its other calls on the GPU count.
--
-- needs: _without_regions, _thread_kinds, _launched, _rare_events
CREATE TABLE _launch_parts AS
WITH
    spans AS (
        SELECT
            kinds.recording,
            kinds.pid,
            min(kinds.first_ns) AS first_ns,
            max(kinds.last_ns) - min(kinds.first_ns) + 1 AS span_ns
        FROM _thread_kinds AS kinds
        JOIN _without_regions AS others ON others.recording = kinds.recording AND others.pid = kinds.pid
        WHERE kinds.kind IN ('cuda_launch', 'cuda_graph', 'backward', 'cuda_copy', 'cuda_sync', 'nccl')
        GROUP BY kinds.recording, kinds.pid
    ),
    calls AS (
        SELECT launched.recording, launched.pid, launched.tid, launched.at_ns, TRUE AS launches
        FROM _launched AS launched
        JOIN spans ON spans.recording = launched.recording AND spans.pid = launched.pid
        UNION ALL
        SELECT others.recording, others.pid, others.tid, others.ts_ns, FALSE
        FROM _rare_events AS others
        JOIN spans ON spans.recording = others.recording AND spans.pid = others.pid
        WHERE others.kind IN ('backward', 'cuda_copy', 'cuda_sync', 'nccl')
    ),
    counts AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            (calls.at_ns - spans.first_ns) * 64 // spans.span_ns AS part,
            calls.launches,
            count(*) AS calls,
            min(calls.at_ns) AS first_ns,
            max(calls.at_ns) AS last_ns
        FROM calls
        JOIN spans ON spans.recording = calls.recording AND spans.pid = calls.pid
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    part, -- number of the part of the time
    launches, -- whether these are launches
    calls, -- calls of the thread in it
    first_ns, -- [ns] when the first began
    last_ns -- [ns] when the last began
FROM counts
QUALIFY launches OR NOT bool_or(launches) OVER (PARTITION BY recording, pid)
