-- Stacks of what asyncio's event loop calls: all below it, but for its own wait for events.
--
-- needs: _stack_frames
CREATE TABLE _loop_calls AS
WITH
    loops AS (
        SELECT id, min(frame) AS frame
        FROM _stack_frames
        WHERE regexp_matches(function, '^(BaseEventLoop\.)?_run_once$') AND file LIKE '%/asyncio/base_events.py'
        GROUP BY id
    )
SELECT
    loops.id -- number of the stack
FROM loops
JOIN _stack_frames AS frames ON frames.id = loops.id AND frames.frame < loops.frame AND NOT frames.native
GROUP BY loops.id
HAVING arg_max(frames.file, frames.frame) NOT LIKE '%/selectors.py';

-- An event loop stands still in a call. A callback or coroutine blocks the thread that should serve all the others.
--
-- Counted is the time in which that thread was blocked below asyncio's loop, but not in the loop's own wait for events:
-- on a socket, a pipe, a file, a lock, a process, or in a sleep. Meanwhile no other request goes on.
-- Does not apply to work on a CPU, which stands in its way, too, but may be what the loop is for; nor to loops that are
-- written in C (uvloop), whose frames have no names here.
--
-- needs: stack_events, _loop_calls, _threads
-- severity: high from 25 % of the time of the thread, medium from 10 %
-- hint: PYTHONASYNCIODEBUG=1 logs callbacks that take longer than 0.1 s
-- lines: these calls WHERE id IN (SELECT id FROM _loop_calls) AND kind <> 'sample'
WITH
    thresholds AS (
        SELECT
            0.05 AS min_share, -- of the time of the thread, blocked
            10 AS min_calls, -- calls in which it was blocked
            0.25 AS high_share, -- for high severity
            0.1 AS medium_share -- for medium severity
    ),
    waits AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.state,
            events.ns
        FROM stack_events AS events
        SEMI JOIN _loop_calls AS called ON called.id = events.id
        WHERE events.ns > 0
            AND events.state IN ('socket', 'pipe', 'storage', 'thread', 'process', 'asleep')
    ),
    lives AS (
        SELECT recording, pid, tid, max(last_ns) - min(first_ns) AS wall_ns
        FROM _threads
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.tid,
            count(*) AS calls,
            sum(waits.ns) AS blocked_ns,
            median(waits.ns) AS p50_ns,
            max(waits.ns) AS max_ns,
            any_value(lives.wall_ns) AS wall_ns,
            mode(waits.state ORDER BY waits.state) AS state
        FROM waits
        JOIN lives ON lives.recording = waits.recording AND lives.pid = waits.pid AND lives.tid = waits.tid
        GROUP BY waits.recording, waits.pid, waits.tid
        HAVING any_value(lives.wall_ns) > 0
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread of the loop
    100 * blocked_ns / wall_ns AS value, -- percent of the time of the thread
    '% of the time of its event loop' AS unit, -- unit of value
    CASE
        WHEN blocked_ns >= high_share * wall_ns THEN 'high'
        WHEN blocked_ns >= medium_share * wall_ns THEN 'medium'
        ELSE 'low'
    END AS severity, -- high, medium or low
    format('thread {}: {:.2f} s of {:.2f} s blocked in {} calls of {} (median), at most {}, below the loop; ',
        tid, blocked_ns / 1e9, wall_ns / 1e9, calls, ms(p50_ns), ms(max_ns))
        || 'meanwhile the loop serves nothing else' AS evidence, -- what it rests on
    CASE state
        WHEN 'asleep' THEN 'await asyncio.sleep() instead of time.sleep()'
        WHEN 'socket' THEN 'use a client that awaits (aiohttp, httpx.AsyncClient), or await asyncio.to_thread(call)'
        ELSE 'await asyncio.to_thread(call), so that a thread waits and the loop goes on'
    END AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM sums
CROSS JOIN thresholds
WHERE calls >= min_calls AND blocked_ns >= min_share * wall_ns
