-- Calls that come once a step, on GPU processes without `Optimizer.step` and DataLoader regions.
--
-- Which these are, `_marker_ratings` says. A step is from one to the next. The last one ends with the thread's last
-- call; where fewer than half of a step's calls are left for it, what came before the first is a step instead. Of a
-- kind that is recorded in windows only, a step is from one to the next in the same window.
--
-- needs: _marker_ratings, _repeated_calls, _detail
CREATE TABLE _step_markers AS
WITH
    found AS (
        SELECT
            ratings.recording,
            ratings.pid,
            ratings.tid,
            ratings.marker,
            ratings.is_same,
            ratings.before,
            ratings.first_ns,
            ratings.what,
            ratings.step_calls,
            ratings.confidence,
            detail.kind IS NOT NULL AS in_windows
        FROM _marker_ratings AS ratings
        LEFT JOIN _detail AS detail ON detail.recording = ratings.recording AND detail.kind = ratings.sort
        WHERE ratings.why_not IS NULL
    ),
    numbered AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            CASE WHEN found.in_windows THEN calls.position ELSE calls.always_position END AS position,
            CASE WHEN found.in_windows THEN calls.part ELSE 0 END AS part,
            coalesce(found.marker = CASE WHEN found.is_same THEN calls.same ELSE calls.alike END, FALSE) AS looks_so,
            calls.ts_ns,
            calls.dur_ns,
            found.what,
            found.before,
            found.first_ns,
            found.step_calls,
            found.confidence
        FROM _repeated_calls AS calls
        JOIN found ON found.recording = calls.recording AND found.pid = calls.pid AND found.tid = calls.tid
        WHERE CASE WHEN found.in_windows THEN calls.position ELSE calls.always_position END IS NOT NULL
    ),
    -- Found in windows and placed among all calls that are always there, numbers are others.
    renumbered AS (
        SELECT
            recording,
            pid,
            max(CASE WHEN ts_ns < first_ns THEN position ELSE 0 END) AS before,
            CAST(median(gap_calls) AS BIGINT) AS step_calls
        FROM (
            SELECT
                numbered.*,
                numbered.position - lag(CASE WHEN numbered.looks_so THEN numbered.position END IGNORE NULLS) OVER (
                    PARTITION BY numbered.recording, numbered.pid, numbered.part
                    ORDER BY numbered.position
                ) AS gap_calls
            FROM numbered
            SEMI JOIN _detail ON _detail.recording = numbered.recording
        )
        WHERE looks_so
        GROUP BY recording, pid
    ),
    placed AS (
        SELECT
            numbered.recording,
            numbered.pid,
            numbered.tid,
            numbered.position,
            numbered.part,
            numbered.looks_so,
            numbered.ts_ns,
            numbered.dur_ns,
            numbered.what,
            coalesce(renumbered.before, numbered.before) AS before,
            coalesce(renumbered.step_calls, numbered.step_calls) AS step_calls,
            numbered.confidence
        FROM numbered
        LEFT JOIN renumbered ON renumbered.recording = numbered.recording AND renumbered.pid = numbered.pid
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
            lead(placed.ts_ns) OVER (
                PARTITION BY placed.recording, placed.pid, placed.tid, placed.part
                ORDER BY placed.position
            ) AS next_ns,
            CASE WHEN ends.is_whole AND ends.end_ns > placed.ts_ns AND placed.part = 0 THEN ends.end_ns END AS last_ns
        FROM marking AS placed
        JOIN ends ON ends.recording = placed.recording AND ends.pid = placed.pid AND ends.tid = placed.tid
        WHERE placed.marks
            OR (NOT ends.is_whole
                AND placed.part = 0
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
