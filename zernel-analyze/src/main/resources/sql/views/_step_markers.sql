-- Calls that return once a step, on GPU processes without `Optimizer.step` and DataLoader regions.
--
-- Steps are found by what repeats: calls of a thread that look the same (a marker) and come at equal intervals; of
-- bursts the first call counts. Per process the marker with the highest confidence wins. Confidence is the product of
-- regularity (1 - 2 MAD / median interval), fit (intervals x median against the time they span), coverage (that time
-- against the thread's time on the GPU), agreement (0.5, + 0.25 x share of markers that come a multiple of times,
-- + 0.25 x how many come as often, against the most) and what it is: 1 for copies to the GPU, backward passes and CUDA
-- graphs, which come with a batch, 0.95 for other copies and syncs, 0.85 for collectives and 0.8 for kernels, of which
-- layers have their own.
--
-- needs: events, _nccl_calls, _without_regions
CREATE TABLE _step_markers AS
WITH
    thresholds AS (
        SELECT
            20 AS min_gpu_calls, -- of a process
            8 AS min_calls, -- of a marker, after bursts were made one
            0.5 AS min_confidence -- below it, there are no steps
    ),
    calls AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            calls.ts_ns,
            calls.dur_ns,
            calls.name AS what,
            CASE
                WHEN calls.kind IN ('backward', 'cuda_graph') OR calls.copy_kind = 'HtoD' THEN 1.0
                ELSE 0.95
            END AS weight,
            hash(calls.kind, calls.name, calls.copy_kind, calls.bytes,
                CASE WHEN calls.kind = 'cuda_graph' THEN calls.addr ELSE calls.stream END) AS marker
        FROM events AS calls
        JOIN _without_regions AS others ON others.recording = calls.recording AND others.pid = calls.pid
        WHERE calls.kind IN ('backward', 'cuda_copy', 'cuda_sync', 'cuda_graph')
            AND (calls.kind IN ('backward', 'cuda_copy', 'cuda_sync', 'cuda_graph')) IS TRUE
            AND (calls.kind <> 'cuda_graph' OR calls.name LIKE '%GraphLaunch%')
            AND outermost(calls.depth, calls.ts_ns)
        UNION ALL
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            calls.ts_ns,
            calls.dur_ns,
            calls.name AS what,
            0.85 AS weight,
            hash(calls.name, calls.bytes, calls.dtype, calls.op, calls.communicator, calls.stream) AS marker
        FROM _nccl_calls AS calls
        JOIN _without_regions AS others ON others.recording = calls.recording AND others.pid = calls.pid
        WHERE calls.kind = 'nccl'
        UNION ALL
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ts_ns,
            events.dur_ns,
            coalesce(events.kernel, events.name) AS what,
            0.8 AS weight,
            hash(events.kernel, events.func, events.grid_x, events.grid_y, events.block_x, events.stream) AS marker
        FROM events
        JOIN _without_regions AS others ON others.recording = events.recording AND others.pid = events.pid
        WHERE events.kind = 'cuda_launch' AND coalesce(events.depth, 0) = 0 AND events.count IS NULL
    ),
    on_gpu AS (
        SELECT calls.recording, calls.pid
        FROM calls
        CROSS JOIN thresholds
        GROUP BY calls.recording, calls.pid
        HAVING count(*) >= any_value(thresholds.min_gpu_calls)
    ),
    active AS (
        SELECT recording, pid, tid, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
        FROM calls
        GROUP BY ALL
    ),
    gaps AS (
        SELECT
            calls.*,
            ts_ns - lag(ts_ns) OVER (PARTITION BY recording, pid, tid, marker ORDER BY ts_ns) AS gap_ns,
            count(*) OVER (PARTITION BY recording, pid, tid, marker) AS n,
            max(ts_ns) OVER (PARTITION BY recording, pid, tid, marker)
                - min(ts_ns) OVER (PARTITION BY recording, pid, tid, marker) AS span_ns
        FROM calls
        SEMI JOIN on_gpu ON on_gpu.recording = calls.recording AND on_gpu.pid = calls.pid
    ),
    -- A call that follows the same call within half of the mean interval belongs to its burst.
    firsts AS (
        SELECT
            gaps.recording,
            gaps.pid,
            gaps.tid,
            gaps.marker,
            gaps.what,
            gaps.weight,
            gaps.ts_ns,
            gaps.dur_ns,
            gaps.ts_ns - lag(gaps.ts_ns) OVER (
                PARTITION BY gaps.recording, gaps.pid, gaps.tid, gaps.marker
                ORDER BY gaps.ts_ns
            ) AS gap_ns
        FROM gaps
        CROSS JOIN thresholds
        WHERE gaps.n >= thresholds.min_calls AND (gaps.gap_ns IS NULL OR 2 * gaps.gap_ns * (gaps.n - 1) >= gaps.span_ns)
    ),
    measured AS (
        SELECT
            firsts.recording,
            firsts.pid,
            firsts.tid,
            firsts.marker,
            min(firsts.what) AS what,
            any_value(firsts.weight) AS weight,
            count(*) AS n,
            median(firsts.gap_ns) AS period_ns,
            mad(firsts.gap_ns) AS mad_ns,
            max(firsts.ts_ns) - min(firsts.ts_ns) AS span_ns,
            any_value(active.last_ns - active.first_ns) AS active_ns
        FROM firsts
        JOIN active ON active.recording = firsts.recording AND active.pid = firsts.pid AND active.tid = firsts.tid
        CROSS JOIN thresholds
        GROUP BY firsts.recording, firsts.pid, firsts.tid, firsts.marker
        HAVING count(*) >= any_value(thresholds.min_calls) AND median(firsts.gap_ns) > 0
    ),
    counts AS (
        SELECT recording, pid, n, count(*) AS markers
        FROM measured
        GROUP BY ALL
    ),
    agreements AS (
        SELECT
            own.recording,
            own.pid,
            own.n,
            sum(CASE
                WHEN others.n >= 0.9 * own.n
                    AND abs(others.n - round(others.n / own.n) * own.n) <= greatest(0.03 * others.n, 1)
                    THEN others.markers
                ELSE 0
            END) / sum(others.markers) AS multiples,
            sum(CASE WHEN abs(others.n - own.n) <= greatest(0.03 * own.n, 1) THEN others.markers ELSE 0 END) AS equals
        FROM counts AS own
        JOIN counts AS others ON others.recording = own.recording AND others.pid = own.pid
        GROUP BY ALL
    ),
    rated AS (
        SELECT
            measured.recording,
            measured.pid,
            measured.tid,
            measured.marker,
            measured.what,
            greatest(1 - 2 * measured.mad_ns / measured.period_ns, 0)
                * least(
                    measured.period_ns * (measured.n - 1) / measured.span_ns,
                    measured.span_ns / (measured.period_ns * (measured.n - 1))
                )
                * least((measured.span_ns + measured.period_ns) / greatest(measured.active_ns, 1), 1)
                * (0.5 + 0.25 * agreements.multiples + 0.25 * agreements.equals
                    / max(agreements.equals) OVER (PARTITION BY measured.recording, measured.pid))
                * measured.weight AS confidence
        FROM measured
        JOIN agreements
            ON agreements.recording = measured.recording
            AND agreements.pid = measured.pid
            AND agreements.n = measured.n
    ),
    best AS (
        SELECT rated.recording, rated.pid, rated.tid, rated.marker, rated.what, rated.confidence
        FROM rated
        CROSS JOIN thresholds
        WHERE rated.confidence >= thresholds.min_confidence
        QUALIFY row_number() OVER (
            PARTITION BY rated.recording, rated.pid
            ORDER BY round(rated.confidence, 2) DESC, rated.tid = rated.pid DESC, rated.what, rated.marker
        ) = 1
    )
SELECT
    firsts.recording, -- recording
    firsts.pid, -- process
    firsts.tid, -- thread
    firsts.ts_ns AS start_ns, -- [ns] when a step begins: the call
    firsts.ts_ns + greatest(coalesce(firsts.dur_ns, 0), 1) AS end_ns, -- [ns] when the call returned
    best.what, -- the call: function or kernel
    round(best.confidence, 2) AS confidence -- how sure it is that it comes once a step, 0.5 to 1
FROM firsts
JOIN best
    ON best.recording = firsts.recording
    AND best.pid = firsts.pid
    AND best.tid = firsts.tid
    AND best.marker = firsts.marker
