-- What watching system calls cost the recorded programs: their number times the measured cost of one.
--
-- Each read, write, opening and wait that is an event took its thread longer by that, and by less each call that was
-- watched and is none, as a short wait, and each that no kind has, as `stat`, which nobody counts. So the cost is what
-- it was at least; it is measured at the start, on short calls in a loop, which find all that they need in the caches.
--
-- Of steps, the calls of the training thread itself count. Others make a step longer where it waits for them, as for
-- a worker that loads its data: of them the thread counts whose calls cost most. What `sched` adds to a thread that
-- sleeps is not in it.
--
-- needs: events, footer, recordings, _step_spans
CREATE TABLE system_call_cost AS
WITH
    parsed AS (
        SELECT
            recording,
            from_json(value, '{"system_calls":{"cost_ns":"DOUBLE","skipped_cost_ns":"DOUBLE",
                "other_cost_ns":"DOUBLE","method":"VARCHAR","skipped":"BIGINT"}}').system_calls AS o
        FROM footer
        WHERE key = 'zernel.overhead'
    ),
    spans AS (
        SELECT recording, pid, tid, from_ns, until_ns
        FROM _step_spans
        WHERE trains
    ),
    lengths AS (
        SELECT
            recording,
            sum(until_ns - from_ns) AS train_ns,
            min(from_ns) AS from_ns,
            max(until_ns) AS until_ns
        FROM spans
        GROUP BY recording
    ),
    -- Counted by quarters of a millisecond, as a step may have thousands: each is of the step that it begins in.
    calls AS (
        SELECT recording, pid, tid, min(ts_ns) AS ts_ns, count(*) AS calls
        FROM events
        WHERE kind IN ('io', 'io_open', 'wait')
            AND name <> 'page_fault'
            AND name NOT LIKE 'io_uring%'
        GROUP BY recording, pid, tid, ts_ns >> 18
    ),
    counts AS (
        SELECT
            calls.recording,
            CAST(sum(calls.calls) AS BIGINT) AS calls,
            CAST(coalesce(sum(calls.calls) FILTER (calls.ts_ns < spans.until_ns), 0) AS BIGINT) AS step_calls
        FROM calls
        ASOF LEFT JOIN spans
            ON spans.recording = calls.recording
            AND spans.pid = calls.pid
            AND spans.tid = calls.tid
            AND spans.from_ns <= calls.ts_ns
        GROUP BY calls.recording
    ),
    -- Of each thread that does not train, those between the first and the last step.
    others AS (
        SELECT
            calls.recording,
            calls.tid,
            sum(calls.calls) AS calls,
            sum(calls.calls) / nullif(any_value(lengths.until_ns - lengths.from_ns), 0) AS calls_per_ns
        FROM calls
        JOIN lengths
            ON lengths.recording = calls.recording
            AND calls.ts_ns >= lengths.from_ns
            AND calls.ts_ns < lengths.until_ns
        ANTI JOIN spans
            ON spans.recording = calls.recording
            AND spans.pid = calls.pid
            AND spans.tid = calls.tid
        GROUP BY calls.recording, calls.pid, calls.tid
        QUALIFY row_number() OVER (
            PARTITION BY calls.recording
            ORDER BY sum(calls.calls) DESC, calls.tid
        ) = 1
    ),
    costs AS (
        SELECT
            counts.recording,
            counts.calls,
            parsed.o.skipped AS skipped,
            parsed.o.cost_ns AS cost_ns,
            counts.calls * parsed.o.cost_ns + coalesce(parsed.o.skipped * parsed.o.skipped_cost_ns, 0) AS cpu_ns,
            counts.step_calls,
            lengths.train_ns,
            CAST(recordings.ended_ns - recordings.started_ns AS DOUBLE) AS length_ns,
            parsed.o.other_cost_ns AS other_cost_ns,
            others.tid AS other_tid,
            CAST(others.calls AS BIGINT) AS other_tid_calls,
            others.calls_per_ns * parsed.o.cost_ns AS other_tid_share,
            parsed.o.method AS method
        FROM counts
        JOIN recordings ON recordings.recording = counts.recording
        LEFT JOIN parsed ON parsed.recording = counts.recording
        LEFT JOIN lengths ON lengths.recording = counts.recording
        LEFT JOIN others ON others.recording = counts.recording
    )
SELECT
    recording, -- recording
    calls, -- system calls that are events
    skipped, -- others that were watched; NULL when not counted
    CAST(round(cost_ns) AS BIGINT) AS cost_ns, -- [ns] CPU time that one that is an event costs; NULL when not measured
    CAST(round(other_cost_ns) AS BIGINT) AS other_cost_ns, -- [ns] that one costs that no kind has
    CAST(round(cpu_ns) AS BIGINT) AS cpu_ns, -- [ns] what all that were watched cost
    step_calls, -- events of training threads in steps of kind train
    CASE WHEN train_ns > 0 AND cost_ns IS NOT NULL THEN least(step_calls * cost_ns / train_ns, 1) END
        AS step_share, -- what those cost of the time of these steps, 0 to 1; NULL without such
    other_tid, -- thread whose calls cost most of those that train no model; NULL without steps, or without its calls
    other_tid_calls, -- its calls that are events, from the first of these steps to the last
    CASE WHEN other_tid_share > 1 THEN 1 ELSE other_tid_share END
        AS other_tid_share, -- what they cost of that time, 0 to 1
    1e9 * CASE WHEN train_ns > 0 THEN step_calls / train_ns ELSE calls / nullif(length_ns, 0) END
        AS calls_per_s, -- of training threads in these steps; without such of all, over the recording
    cpu_ns / nullif(length_ns, 0) AS share, -- what all cost as a share of one CPU
    method -- how the cost was measured, or why not
FROM costs
ORDER BY recording
