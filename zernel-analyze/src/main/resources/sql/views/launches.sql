-- Kernel launches per process and kernel: how many, and how long each took to enqueue.
--
-- The time is that of the call on the CPU, never that of the kernel. A call that takes long found the queue of the GPU
-- full, so the GPU had enough to do. Launches of a CUDA graph count as one launch of `kernels` kernels.
--
-- needs: events, footer, _step_counts
CREATE VIEW launches AS
WITH
    known AS (
        SELECT
            recording,
            unnest(from_json(value, '[{"pid":"BIGINT","func":"BIGINT","name":"VARCHAR"}]')) AS k
        FROM footer
        WHERE key = 'zernel.kernels'
    ),
    named AS (
        SELECT recording, k.pid AS pid, k.func AS func, any_value(k.name) AS name
        FROM known
        GROUP BY ALL
    ),
    calls AS (
        SELECT
            events.recording,
            events.pid,
            CASE
                WHEN events.kind = 'cuda_graph' THEN 'CUDA graph'
                ELSE coalesce(events.kernel, named.name, format('kernel at {:#x}', events.func), 'unknown kernel')
            END AS kernel,
            CASE WHEN events.kind = 'cuda_graph' THEN events.count ELSE 1 END AS kernels,
            events.dur_ns,
            events.status
        FROM events
        LEFT JOIN named
            ON named.recording = events.recording
            AND named.pid = events.pid
            AND named.func = events.func
        WHERE coalesce(events.depth, 0) = 0
            AND (events.kind = 'cuda_launch' OR (events.kind = 'cuda_graph' AND events.name LIKE '%GraphLaunch%'))
    ),
    sums AS (
        SELECT
            recording,
            pid,
            kernel,
            count(*) AS launches,
            sum(kernels) AS kernels,
            count(CASE WHEN status <> 0 THEN 1 END) AS failed,
            sum(dur_ns) AS sum_ns,
            quantile_cont(dur_ns, [0.5, 0.99]) AS q,
            max(dur_ns) AS max_ns
        FROM calls
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.kernel, -- name of the kernel, demangled
    sums.launches, -- calls
    CAST(sums.kernels AS BIGINT) AS kernels, -- kernels they launched; unknown for a graph captured before recording
    sums.launches / counts.steps AS per_step, -- calls, divided by the steps of the process
    sums.failed, -- calls that returned an error
    CAST(sums.sum_ns AS BIGINT) AS sum_ns, -- [ns] time to enqueue, all calls
    CAST(sums.q[1] AS BIGINT) AS p50_ns, -- [ns] median
    CAST(sums.q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    sums.max_ns -- [ns] longest
FROM sums
LEFT JOIN _step_counts AS counts ON counts.recording = sums.recording AND counts.pid = sums.pid
ORDER BY sums.recording, sums.pid, sums.launches DESC, sums.kernel
