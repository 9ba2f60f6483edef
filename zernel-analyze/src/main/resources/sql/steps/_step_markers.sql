-- Calls that come once a step, on GPU processes without `Optimizer.step` and DataLoader regions.
--
-- Which these are, `_marker_ratings` says. A step is from one to the next. The last one ends with the thread's last
-- call; where fewer than half of a step's calls are left for it, what came before the first is a step instead.
--
-- needs: _marker_ratings, _repeated_calls
CREATE TABLE _step_markers AS
WITH
    found AS (
        SELECT recording, pid, tid, marker, is_same, before, what, step_calls, confidence
        FROM _marker_ratings
        WHERE why_not IS NULL
    ),
    placed AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            calls.position,
            coalesce(found.marker = CASE WHEN found.is_same THEN calls.same ELSE calls.alike END, FALSE) AS looks_so,
            calls.ts_ns,
            calls.dur_ns,
            found.what,
            found.before,
            found.step_calls,
            found.confidence
        FROM _repeated_calls AS calls
        JOIN found ON found.recording = calls.recording AND found.pid = calls.pid AND found.tid = calls.tid
    ),
    -- Before the calls that were looked at, calls count back to the first that is not a step from the next.
    spaced AS (
        SELECT
            recording,
            pid,
            position,
            before,
            step_calls,
            lead(position) OVER (PARTITION BY recording, pid ORDER BY position) - position AS gap_calls
        FROM placed
        WHERE looks_so
    ),
    begins AS (
        SELECT
            recording,
            pid,
            coalesce(
                max(CASE
                    WHEN position <= before
                        AND (gap_calls < 0.5 * step_calls OR gap_calls > greatest(2 * step_calls, 50))
                        THEN position
                END),
                0
            ) AS position
        FROM spaced
        GROUP BY ALL
    ),
    marking AS (
        SELECT placed.*, placed.looks_so AND placed.position > begins.position AS marks
        FROM placed
        JOIN begins ON begins.recording = placed.recording AND begins.pid = placed.pid
    ),
    ends AS (
        SELECT
            recording,
            pid,
            tid,
            max(ts_ns + coalesce(dur_ns, 0)) AS end_ns,
            2 * (max(position) - max(CASE WHEN marks THEN position END) + 1) >= any_value(step_calls) AS is_whole,
            min(CASE WHEN marks THEN position END) AS first_position
        FROM marking AS placed
        GROUP BY ALL
    ),
    marked AS (
        SELECT
            placed.recording,
            placed.pid,
            placed.tid,
            placed.ts_ns,
            placed.dur_ns,
            placed.what,
            placed.confidence,
            lead(placed.ts_ns) OVER (PARTITION BY placed.recording, placed.pid, placed.tid ORDER BY placed.position)
                AS next_ns,
            CASE WHEN ends.is_whole AND ends.end_ns > placed.ts_ns THEN ends.end_ns END AS last_ns
        FROM marking AS placed
        JOIN ends ON ends.recording = placed.recording AND ends.pid = placed.pid AND ends.tid = placed.tid
        WHERE placed.marks
            OR (NOT ends.is_whole
                AND 2 * (ends.first_position - 1) >= placed.step_calls
                AND placed.position = greatest(ends.first_position - placed.step_calls, 1))
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    ts_ns AS start_ns, -- [ns] when a step begins: the call
    ts_ns + greatest(coalesce(dur_ns, 0), 1) AS end_ns, -- [ns] when the call returned
    coalesce(next_ns, last_ns) AS until_ns, -- [ns] when the step ends; NULL where that is not known
    what, -- the call: function or kernel
    confidence -- how sure it is that it comes once a step, 0.5 to 1
FROM marked
