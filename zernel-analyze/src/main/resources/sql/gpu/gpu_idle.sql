-- Why each GPU was idle: what the training thread did until it launched what the GPU ran next.
--
-- Until the launch of the next activity was called, the CPU was late, and the part of the step that the training thread
-- was in says why. After that, the GPU needs time to start; when the launch was called before the GPU ran dry, the
-- activity waited in its stream: for its turn, an event, another GPU or the host. Time in no part of a step is dispatch
-- where the thread was in an operator or a launch.
--
-- needs: _gpu_spans, gpu_activity, _segments, events
CREATE TABLE gpu_idle AS
WITH
    gaps AS (
        SELECT recording, pid, device, start_ns, end_ns
        FROM _gpu_spans
        WHERE NOT compute AND NOT communication AND NOT copy
    ),
    ended AS (
        SELECT
            gaps.recording,
            gaps.pid,
            gaps.device,
            gaps.start_ns,
            gaps.end_ns,
            min(next.launch_ns) AS launch_ns
        FROM gaps
        JOIN gpu_activity AS next
            ON next.recording = gaps.recording
            AND next.pid = gaps.pid
            AND next.device = gaps.device
            AND next.start_ns = gaps.end_ns
        GROUP BY ALL
    ),
    halves AS (
        SELECT
            ended.*,
            greatest(start_ns, least(coalesce(launch_ns, start_ns), end_ns)) AS called_ns
        FROM ended
    ),
    -- The training thread is the one whose calls cover most.
    threads AS (
        SELECT recording, pid, arg_max(tid, wall_ns) AS tid
        FROM (
            SELECT recording, pid, tid, sum(dur_ns) AS wall_ns
            FROM _segments
            SEMI JOIN gaps USING (recording, pid)
            GROUP BY ALL
        )
        GROUP BY ALL
    ),
    -- In stretches of 4 ms, to join without sorting.
    late AS (
        SELECT
            recording,
            pid,
            device,
            start_ns,
            end_ns,
            called_ns,
            unnest(range(start_ns >> 22, (called_ns >> 22) + 1)) AS stretch
        FROM halves
        WHERE called_ns > start_ns
    ),
    parts AS (
        SELECT
            segments.recording,
            segments.pid,
            segments.start_ns,
            segments.end_ns,
            CASE
                WHEN segments.part = 'data_wait' THEN 'data wait'
                WHEN segments.part = 'gpu_wait' THEN 'sync'
                WHEN segments.part = 'collective' THEN 'collective'
                WHEN segments.part IN ('optimizer_step', 'zero_grad') THEN 'optimizer'
                WHEN segments.part = 'unknown' THEN 'no call'
                ELSE 'dispatch'
            END AS cause,
            unnest(range(segments.start_ns >> 22, (segments.end_ns >> 22) + 1)) AS stretch
        FROM _segments AS segments
        JOIN threads
            ON threads.recording = segments.recording
            AND threads.pid = segments.pid
            AND threads.tid = segments.tid
    ),
    calls AS (
        SELECT
            events.recording,
            events.pid,
            events.ts_ns AS start_ns,
            events.ts_ns + events.dur_ns AS end_ns,
            max(events.ts_ns + events.dur_ns) OVER (
                PARTITION BY events.recording, events.pid
                ORDER BY events.ts_ns, events.dur_ns DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS until_ns
        FROM events
        JOIN threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        WHERE (events.kind IN ('torch_op', 'cuda_launch')) IS TRUE AND events.dur_ns > 0
    ),
    outermost AS (
        SELECT recording, pid, start_ns, end_ns, unnest(range(start_ns >> 22, (end_ns >> 22) + 1)) AS stretch
        FROM calls
        WHERE coalesce(until_ns <= start_ns, TRUE)
    ),
    dispatched AS (
        SELECT
            parts.recording,
            parts.pid,
            greatest(parts.start_ns, outermost.start_ns) AS start_ns,
            least(parts.end_ns, outermost.end_ns) AS end_ns,
            parts.stretch
        FROM parts
        JOIN outermost
            ON outermost.recording = parts.recording
            AND outermost.pid = parts.pid
            AND outermost.stretch = parts.stretch
        WHERE parts.cause = 'no call' AND outermost.start_ns < parts.end_ns AND outermost.end_ns > parts.start_ns
    ),
    -- An operator or launch in no part counts for dispatch, and what it takes is taken off the time in no call.
    doing AS (
        SELECT recording, pid, start_ns, end_ns, cause, 1 AS sign, stretch
        FROM parts
        UNION ALL
        SELECT recording, pid, start_ns, end_ns, 'dispatch' AS cause, 1 AS sign, stretch
        FROM dispatched
        UNION ALL
        SELECT recording, pid, start_ns, end_ns, 'no call' AS cause, -1 AS sign, stretch
        FROM dispatched
    ),
    explained AS (
        SELECT
            late.recording,
            late.pid,
            late.device,
            late.start_ns,
            late.end_ns,
            doing.cause,
            sum(doing.sign * (
                least(late.called_ns, doing.end_ns, (late.stretch + 1) << 22)
                - greatest(late.start_ns, doing.start_ns, late.stretch << 22)
            )) AS dur_ns
        FROM late
        JOIN doing
            ON doing.recording = late.recording
            AND doing.pid = late.pid
            AND doing.stretch = late.stretch
        WHERE doing.start_ns < late.called_ns AND doing.end_ns > late.start_ns
        GROUP BY ALL
        HAVING dur_ns > 0
    ),
    causes AS (
        SELECT recording, pid, device, start_ns, end_ns, cause, dur_ns
        FROM explained
        UNION ALL
        SELECT
            halves.recording,
            halves.pid,
            halves.device,
            halves.start_ns,
            halves.end_ns,
            'unknown' AS cause,
            any_value(halves.called_ns - halves.start_ns) - coalesce(sum(explained.dur_ns), 0) AS dur_ns
        FROM halves
        LEFT JOIN explained
            ON explained.recording = halves.recording
            AND explained.pid = halves.pid
            AND explained.device = halves.device
            AND explained.start_ns = halves.start_ns
        GROUP BY halves.recording, halves.pid, halves.device, halves.start_ns, halves.end_ns
        HAVING dur_ns > 0
        UNION ALL
        SELECT
            recording,
            pid,
            device,
            start_ns,
            end_ns,
            CASE
                WHEN launch_ns IS NULL THEN 'unknown'
                WHEN launch_ns > start_ns THEN 'launch latency'
                ELSE 'queued'
            END AS cause,
            end_ns - called_ns AS dur_ns
        FROM halves
        WHERE end_ns > called_ns
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU
    start_ns, -- [ns] when it ran dry
    end_ns, -- [ns] when it had something to do again
    cause, -- data wait, sync, collective, optimizer, dispatch, no call, launch latency, queued or unknown
    CAST(sum(dur_ns) AS BIGINT) AS dur_ns -- [ns] of the gap for this cause
FROM causes
GROUP BY recording, pid, device, start_ns, end_ns, cause
ORDER BY recording, pid, device, start_ns, cause
