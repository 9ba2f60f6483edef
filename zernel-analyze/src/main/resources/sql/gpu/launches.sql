-- Kernel launches per process and kernel: how many, and how long each took to enqueue.
--
-- The time is that of the call on the CPU, never that of the kernel. A call that takes long found the queue of the GPU
-- full, so the GPU had enough to do. Launches of a CUDA graph count as one launch of `kernels` kernels. Where the end
-- of some was not recorded, `sum_ns` takes them to be as long as the others.
-- Launches that were only counted, not recorded, are one row without a process. What is per step is of steps of kind
-- train, all else of all of the recording. Where launches were recorded in windows, `launches` and times are of these,
-- `per_step` of steps with all of their detail, and `all_launches` what that makes of all: steps without it are taken
-- for such, and a warm-up with it counts as it was.
--
-- needs: events, _kernel_names, _step_spans, _sampled, _detail, _window_buckets
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
    calls AS NOT MATERIALIZED (
        SELECT recording, pid, kernel, 1 AS kernels, ts_ns AS at_ns, dur_ns, status
        FROM events
        WHERE kind = 'cuda_launch'
            AND count IS NULL
            AND coalesce(depth, 0) = 0
            AND kernel IS NOT NULL
            AND recording NOT IN (SELECT recording FROM windowed)
        UNION ALL
        SELECT recording, pid, kernel, 1, at_ns, dur_ns, status
        FROM in_windows
        UNION ALL
        SELECT
            events.recording,
            events.pid,
            coalesce(named.kernel, format('kernel at {:#x}', events.func), 'unknown kernel'),
            1,
            events.ts_ns,
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
        SELECT recording, pid, 'CUDA graph', count, ts_ns, dur_ns, status
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
    spans AS (
        SELECT recording, pid, step, from_ns, until_ns, steady, detailed
        FROM _step_spans
    ),
    numbers AS (
        SELECT
            recording,
            pid,
            count(*) FILTER (steady) AS steps,
            count(*) FILTER (steady AND detailed) AS detailed_steps,
            count(*) FILTER (NOT detailed) AS other_steps
        FROM spans
        GROUP BY recording, pid
    ),
    placed AS (
        SELECT recording, pid, kernel, step, steady, detailed, count(*) AS launches
        FROM in_spans(calls, spans)
        GROUP BY ALL
    ),
    inside AS (
        SELECT
            recording,
            pid,
            kernel,
            sum(launches) FILTER (steady) AS steady_launches,
            sum(launches) FILTER (NOT detailed) AS other_launches,
            sum(launches) FILTER (steady AND detailed) AS detailed_launches,
            sum(launches * launches) FILTER (steady AND detailed) AS squares
        FROM placed
        GROUP BY recording, pid, kernel
    ),
    -- Steps without a kernel count as zero.
    everywhere AS (
        SELECT
            everything.*,
            everything.recording IN (SELECT recording FROM windowed) AND everything.kernel <> 'CUDA graph' AS is_part,
            numbers.other_steps,
            coalesce(inside.other_launches, 0) AS other_launches,
            coalesce(inside.steady_launches, 0) / nullif(numbers.steps, 0) AS steady_mean,
            coalesce(inside.detailed_launches, 0) / nullif(numbers.detailed_steps, 0) AS mean,
            student_t(numbers.detailed_steps - 1) * sqrt(
                greatest(
                    coalesce(inside.squares, 0)
                        - coalesce(inside.detailed_launches, 0) ** 2 / nullif(numbers.detailed_steps, 0),
                    0
                ) / nullif(numbers.detailed_steps - 1, 0) / nullif(numbers.detailed_steps, 0)
            ) AS error
        FROM everything
        LEFT JOIN numbers ON numbers.recording = everything.recording AND numbers.pid = everything.pid
        LEFT JOIN inside
            ON inside.recording = everything.recording
            AND inside.pid = everything.pid
            AND inside.kernel = everything.kernel
    ),
    -- What was recorded but in steps without all of their detail, and the mean in place of these.
    reckoned AS (
        SELECT
            everywhere.*,
            CASE
                WHEN NOT is_part OR other_steps = 0 THEN launches
                WHEN mean * other_steps IS NOT NULL
                    THEN greatest(launches - other_launches + mean * other_steps, launches)
            END AS all_launches,
            CASE
                WHEN NOT is_part OR other_steps = 0 THEN launches
                WHEN mean * other_steps IS NOT NULL
                    THEN greatest(launches - other_launches + coalesce(mean - error, 0) * other_steps, launches)
            END AS least_launches,
            CASE
                WHEN NOT is_part OR other_steps = 0 THEN launches
                WHEN error IS NOT NULL THEN greatest(launches - other_launches + (mean + error) * other_steps, launches)
            END AS most_launches
        FROM everywhere
    )
SELECT
    recording, -- recording
    pid, -- process
    kernel, -- name of the kernel, demangled
    launches, -- calls
    CAST(kernels AS BIGINT) AS kernels, -- kernels they launched; NULL for a graph whose capture was not seen
    CASE WHEN is_part THEN mean ELSE steady_mean END AS per_step, -- calls in a mean step of kind train
    failed, -- calls that returned an error
    CAST(sum_ns AS BIGINT) AS sum_ns, -- [ns] time to enqueue, all calls
    CAST(q[1] AS BIGINT) AS p50_ns, -- [ns] median, as exact as `percentiles`
    CAST(q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    max_ns, -- [ns] longest
    CAST(round(all_launches) AS BIGINT)
        AS all_launches, -- calls in all; where they were recorded in windows, with the mean step for those outside
    CAST(round(least_launches) AS BIGINT) AS least_launches, -- the same at least, at 95 %
    CAST(round(most_launches) AS BIGINT) AS most_launches -- the same at most; NULL where one step tells
FROM reckoned
ORDER BY recording, pid, launches DESC, kernel
