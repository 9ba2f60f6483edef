-- Kernel launches per process and kernel: how many, and how long each took to enqueue.
--
-- The time is that of the call on the CPU, never that of the kernel. A call that takes long found the queue of the GPU
-- full, so the GPU had enough to do. Launches of a CUDA graph count as one launch of `kernels` kernels. Where the end
-- of some was not recorded, `sum_ns` takes them to be as long as the others.
-- Launches that were only counted, not recorded, are one row without a process. Where launches were recorded in
-- windows, `launches` and times are of these, `per_step` of detailed steps, and `all_launches` what that makes of all.
--
-- needs: events, _kernel_names, _step_counts, _step_spans, _sampled, _detail, _window_buckets
CREATE VIEW launches AS
WITH
    nameless AS (
        SELECT
            events.recording,
            events.pid,
            events.func,
            min(events.ts_ns) AS ts_ns,
            arg_min(events.ts_ns + coalesce(events.dur_ns, 0), events.ts_ns) AS end_ns,
            arg_min(events.tid, events.ts_ns) AS tid
        FROM events
        ANTI JOIN _kernel_names AS named
            ON named.recording = events.recording
            AND named.pid = events.pid
            AND named.func = events.func
        WHERE events.kind = 'cuda_launch'
            AND events.count IS NULL
            AND coalesce(events.depth, 0) = 0
            AND events.kernel IS NULL
            AND events.func IS NOT NULL
        GROUP BY events.recording, events.pid, events.func
    ),
    -- A call of the driver inside one of the runtime may know what that one does not.
    named AS (
        SELECT recording, pid, func, kernel
        FROM _kernel_names
        UNION ALL
        SELECT nameless.recording, nameless.pid, nameless.func, any_value(events.kernel)
        FROM events
        JOIN nameless
            ON nameless.recording = events.recording
            AND nameless.pid = events.pid
            AND nameless.tid = events.tid
        WHERE events.kind = 'cuda_launch'
            AND events.depth > 0
            AND events.kernel IS NOT NULL
            AND events.ts_ns >= nameless.ts_ns
            AND events.ts_ns <= nameless.end_ns
        GROUP BY nameless.recording, nameless.pid, nameless.func
    ),
    windowed AS (
        SELECT recording
        FROM _detail
        WHERE kind = 'cuda_launch'
    ),
    in_windows AS (
        SELECT
            events.recording,
            events.pid,
            coalesce(events.kernel, named.kernel, format('kernel at {:#x}', events.func), 'unknown kernel') AS kernel,
            events.ts_ns AS at_ns,
            events.dur_ns,
            events.status
        FROM events
        JOIN _window_buckets AS windows
            ON windows.recording = events.recording
            AND windows.kind = 'cuda_launch'
            AND windows.bucket = events.ts_ns >> 30
        LEFT JOIN named
            ON named.recording = events.recording
            AND named.pid = events.pid
            AND named.func = events.func
        WHERE events.kind = 'cuda_launch'
            AND events.count IS NULL
            AND coalesce(events.depth, 0) = 0
            AND events.ts_ns >= windows.start_ns
            AND events.ts_ns <= windows.end_ns
    ),
    -- Most launches have their kernel's name: only the others are joined.
    calls AS (
        SELECT recording, pid, kernel, 1 AS kernels, dur_ns, status
        FROM events
        WHERE kind = 'cuda_launch'
            AND count IS NULL
            AND coalesce(depth, 0) = 0
            AND kernel IS NOT NULL
            AND recording NOT IN (SELECT recording FROM windowed)
        UNION ALL
        SELECT recording, pid, kernel, 1, dur_ns, status
        FROM in_windows
        UNION ALL
        SELECT
            events.recording,
            events.pid,
            coalesce(named.kernel, format('kernel at {:#x}', events.func), 'unknown kernel'),
            1,
            events.dur_ns,
            events.status
        FROM events
        LEFT JOIN named
            ON named.recording = events.recording
            AND named.pid = events.pid
            AND named.func = events.func
        WHERE events.kind = 'cuda_launch'
            AND events.count IS NULL
            AND coalesce(events.depth, 0) = 0
            AND events.kernel IS NULL
            AND events.recording NOT IN (SELECT recording FROM windowed)
        UNION ALL
        SELECT recording, pid, 'CUDA graph', count, dur_ns, status
        FROM events
        WHERE kind = 'cuda_graph' AND name LIKE '%GraphLaunch%' AND outermost(depth, ts_ns)
    ),
    sums AS (
        SELECT
            recording,
            pid,
            kernel,
            count(*) AS launches,
            sum(kernels) AS kernels,
            count(CASE WHEN status <> 0 THEN 1 END) AS failed,
            sum(dur_ns) * count(*) / nullif(count(dur_ns), 0) AS sum_ns,
            quantiles(dur_ns, [0.5, 0.99]) AS q,
            max(dur_ns) AS max_ns
        FROM calls
        GROUP BY ALL
    ),
    everything AS (
        SELECT recording, pid, kernel, launches, kernels, failed, sum_ns, q, max_ns
        FROM sums
        UNION ALL
        SELECT recording, NULL, 'not recorded, only counted', counted, counted, 0, NULL, NULL, NULL
        FROM _sampled
        WHERE kind = 'cuda_launch'
    ),
    detailed_steps AS (
        SELECT recording, pid, step, from_ns, until_ns
        FROM _step_spans
        WHERE detailed AND recording IN (SELECT recording FROM windowed)
    ),
    numbers AS (
        SELECT recording, pid, count(*) AS steps
        FROM detailed_steps
        GROUP BY recording, pid
    ),
    -- By step and kernel, steps without it being zero.
    spread AS (
        SELECT
            recording,
            pid,
            kernel,
            any_value(steps) AS steps,
            sum(launches) / any_value(steps) AS mean,
            sqrt(greatest(sum(launches * launches) - sum(launches) * sum(launches) / any_value(steps), 0)
                / nullif(any_value(steps) - 1, 0)) AS deviation
        FROM (
            SELECT inside.recording, inside.pid, inside.kernel, inside.step, numbers.steps, count(*) AS launches
            FROM in_spans(in_windows, detailed_steps) AS inside
            JOIN numbers ON numbers.recording = inside.recording AND numbers.pid = inside.pid
            GROUP BY inside.recording, inside.pid, inside.kernel, inside.step, numbers.steps
        )
        GROUP BY recording, pid, kernel
    ),
    everywhere AS (
        SELECT
            everything.*,
            counts.steps,
            everything.recording IN (SELECT recording FROM windowed) AND everything.kernel <> 'CUDA graph' AS is_part,
            CASE WHEN numbers.steps > 0 THEN coalesce(spread.mean, 0) END AS mean,
            student_t(spread.steps - 1) * spread.deviation / sqrt(spread.steps) AS error
        FROM everything
        LEFT JOIN _step_counts AS counts ON counts.recording = everything.recording AND counts.pid = everything.pid
        LEFT JOIN numbers ON numbers.recording = everything.recording AND numbers.pid = everything.pid
        LEFT JOIN spread
            ON spread.recording = everything.recording
            AND spread.pid = everything.pid
            AND spread.kernel = everything.kernel
    )
SELECT
    everything.recording, -- recording
    everything.pid, -- process
    everything.kernel, -- name of the kernel, demangled
    everything.launches, -- calls
    CAST(everything.kernels AS BIGINT) AS kernels, -- kernels they launched; NULL for a graph whose capture was not seen
    CASE WHEN is_part THEN mean ELSE launches / steps END AS per_step, -- calls, divided by the steps of the process
    everything.failed, -- calls that returned an error
    CAST(everything.sum_ns AS BIGINT) AS sum_ns, -- [ns] time to enqueue, all calls
    CAST(everything.q[1] AS BIGINT) AS p50_ns, -- [ns] median, as exact as `percentiles`
    CAST(everything.q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    everything.max_ns, -- [ns] longest
    CASE WHEN is_part THEN CAST(round(mean * steps) AS BIGINT) ELSE launches END
        AS all_launches, -- calls in all; where they were recorded in windows, per detailed step times all steps
    CASE WHEN is_part THEN CAST(round(greatest(mean - error, 0) * steps) AS BIGINT) ELSE launches END
        AS least_launches, -- the same at least, at 95 %
    CASE WHEN is_part THEN CAST(round((mean + error) * steps) AS BIGINT) ELSE launches END
        AS most_launches -- the same at most
FROM everywhere AS everything
ORDER BY everything.recording, everything.pid, everything.launches DESC, everything.kernel
