-- Lines in which training threads compute, in no recorded call, and wait for threads of their process.
--
-- Such is a call of a library that gives work to threads of its own: its time is split between cpu_between_calls and
-- blocked_on_thread. It is the line with most of both.
--
-- needs: stack_events, stack_lines, thread_waits, _thread_wait_spans, _step_samples, _module_stacks, _thread_numbers
-- needs: _python_threads
-- digest: kept
CREATE TABLE _shared_lines AS
WITH
    constants AS (
        SELECT
            0.5 AS wait_share, -- of the waits, that must be in this line
            0.3 AS work_share, -- of the work, that must be
            0.1 AS least_part -- of the time of both, that each must be
    ),
    waiting AS (
        SELECT events.recording, events.pid, events.tid, events.id, events.middle_ns, events.ns
        FROM stack_events AS events
        JOIN _thread_numbers AS numbers
            ON numbers.recording = events.recording
            AND numbers.pid = events.pid
            AND numbers.tid = events.tid
        WHERE events.kind = 'wait' AND events.ns > 0
    ),
    parts AS (
        SELECT waiting.recording, waiting.pid, waiting.tid, waiting.id, waiting.ns AS wait_ns, 0 AS work_ns
        FROM waiting
        ASOF JOIN _thread_wait_spans AS spans
            ON spans.recording = waiting.recording
            AND spans.pid = waiting.pid
            AND spans.tid = waiting.tid
            AND spans.from_ns <= waiting.middle_ns
        WHERE waiting.middle_ns < spans.until_ns AND spans.kind = 'lock'
        UNION ALL
        SELECT samples.recording, samples.pid, samples.tid, samples.id, 0, samples.ns
        FROM _step_samples AS samples
        LEFT JOIN _module_stacks AS modules ON modules.id = samples.id
        WHERE samples.part = 'unknown' AND modules.forward IS NOT TRUE
    ),
    times AS (
        SELECT
            parts.recording,
            parts.pid,
            parts.tid,
            lines.line,
            sum(parts.wait_ns) AS wait_ns,
            sum(parts.work_ns) AS work_ns
        FROM parts
        JOIN stack_lines AS lines ON lines.id = parts.id
        GROUP BY ALL
    ),
    shares AS (
        SELECT
            *,
            wait_ns / nullif(sum(wait_ns) OVER thread, 0) AS wait_share,
            work_ns / nullif(sum(work_ns) OVER thread, 0) AS work_share
        FROM times
        WINDOW thread AS (PARTITION BY recording, pid, tid)
    )
SELECT
    shares.recording, -- recording
    shares.pid, -- process
    shares.tid, -- training thread
    arg_max(shares.line, shares.wait_share) AS line, -- the line
    max(shares.wait_share) * any_value(waits.blocked_ns) AS wait_ns, -- [ns] of a mean step, blocked on threads in it
    arg_max(shares.work_ns, shares.wait_share) / any_value(waits.steps)
        AS work_ns, -- [ns] of a mean step, on a CPU in it, by samples
    bool_and(pythons.tid IS NULL) AS native -- whether the thread that ends most of the waits runs no Python code
FROM shares
JOIN thread_waits AS waits
    ON waits.recording = shares.recording
    AND waits.pid = shares.pid
    AND waits.tid = shares.tid
    AND waits.kind = 'lock'
    AND waits.waker_tid IS NOT NULL
LEFT JOIN _python_threads AS pythons
    ON pythons.recording = waits.recording
    AND pythons.pid = waits.pid
    AND pythons.tid = waits.waker_tid
CROSS JOIN constants
WHERE shares.wait_share >= constants.wait_share
    AND shares.work_share >= constants.work_share
    AND least(shares.wait_ns, shares.work_ns) >= constants.least_part * (shares.wait_ns + shares.work_ns)
GROUP BY shares.recording, shares.pid, shares.tid
