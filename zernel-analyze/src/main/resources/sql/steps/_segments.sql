-- What `phase_rules` say about time in no recorded call, on threads whose steps were found by what repeats.
--
-- A wait or read counts for the piece of time in which it began. Inference has no optimizer. Where launches were
-- recorded in windows, time outside has some where most of the time in windows has that follows the same.
--
-- needs: events, _pieces, _thread_numbers, _step_markers, _launched, _purposes, phase_rules, _detail, detail_windows
CREATE TABLE _phase_guesses AS
WITH
    threads AS (
        SELECT recording, pid, tid, thread
        FROM _thread_numbers
        SEMI JOIN _step_markers USING (recording, pid, tid)
    ),
    placed AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.thread,
            pieces.start_ns,
            pieces.end_ns,
            pieces.part,
            lag(pieces.part) OVER (PARTITION BY pieces.thread ORDER BY pieces.start_ns) AS previous_part
        FROM _pieces AS pieces
        JOIN threads ON threads.thread = pieces.thread
    ),
    blocked AS (
        SELECT
            placed.thread,
            placed.start_ns,
            sum(CASE
                WHEN calls.futex THEN 0
                ELSE least(calls.ts_ns + calls.dur_ns, placed.end_ns) - calls.ts_ns
            END) AS blocked_ns,
            count(CASE WHEN calls.futex THEN 1 END) AS futex_waits
        FROM (
            SELECT
                threads.thread,
                events.ts_ns,
                events.dur_ns,
                events.kind = 'wait' AND coalesce(events.object = 'futex', events.name = 'futex') AS futex
            FROM events
            JOIN threads
                ON threads.recording = events.recording
                AND threads.pid = events.pid
                AND threads.tid = events.tid
            WHERE (events.kind IN ('wait', 'io')) IS TRUE
                AND events.dur_ns > 0
                AND CASE WHEN events.kind = 'io' THEN is_read(events.name) ELSE is_idle(events.name) END
        ) AS calls
        ASOF JOIN placed
            ON placed.thread = calls.thread
            AND placed.start_ns <= calls.ts_ns
        WHERE calls.ts_ns < placed.end_ns
        GROUP BY ALL
    ),
    launching AS (
        SELECT placed.thread, placed.start_ns, count(*) AS launches
        FROM (
            SELECT _launched.recording, _launched.pid, _launched.at_ns
            FROM _launched
            JOIN threads ON threads.recording = _launched.recording AND threads.pid = _launched.pid
        ) AS calls
        ASOF JOIN placed
            ON placed.recording = calls.recording
            AND placed.pid = calls.pid
            AND placed.start_ns <= calls.at_ns
        WHERE calls.at_ns < placed.end_ns
        GROUP BY ALL
    ),
    windowed AS (
        SELECT
            placed.thread,
            placed.start_ns,
            placed.previous_part,
            placed.end_ns - placed.start_ns AS dur_ns,
            coalesce(windows.end_ns >= placed.end_ns, FALSE) AS inside
        FROM (
            SELECT placed.*
            FROM placed
            SEMI JOIN _detail ON _detail.recording = placed.recording AND _detail.kind = 'cuda_launch'
            WHERE placed.part = 'unknown'
        ) AS placed
        ASOF LEFT JOIN detail_windows AS windows
            ON windows.recording = placed.recording
            AND windows.start_ns <= placed.start_ns
    ),
    outside AS (
        SELECT thread, start_ns
        FROM windowed
        WHERE NOT inside
    ),
    usual AS (
        SELECT
            windowed.thread,
            windowed.previous_part,
            2 * coalesce(sum(windowed.dur_ns) FILTER (WHERE launching.launches > 0), 0) >= sum(windowed.dur_ns)
                AS launches
        FROM windowed
        LEFT JOIN launching ON launching.thread = windowed.thread AND launching.start_ns = windowed.start_ns
        WHERE windowed.inside
        GROUP BY windowed.thread, windowed.previous_part
    ),
    samples AS (
        SELECT events.recording, events.ts_ns, max(events.value) AS utilization
        FROM events
        JOIN (SELECT DISTINCT recording FROM threads) AS guessed ON guessed.recording = events.recording
        WHERE events.kind = 'gpu_sample' AND events.name = 'utilization'
        GROUP BY ALL
    ),
    seen AS (
        SELECT
            placed.recording,
            placed.pid,
            placed.thread,
            placed.start_ns,
            placed.end_ns - placed.start_ns AS dur_ns,
            placed.previous_part,
            coalesce(blocked.blocked_ns, 0) / (placed.end_ns - placed.start_ns) AS io_wait,
            coalesce(blocked.futex_waits, 0) AS futex_waits,
            CASE
                WHEN launching.launches > 0 OR (outside.start_ns IS NOT NULL AND usual.launches) THEN 100
                ELSE coalesce(samples.utilization, 0)
            END AS utilization
        FROM placed
        LEFT JOIN blocked ON blocked.thread = placed.thread AND blocked.start_ns = placed.start_ns
        LEFT JOIN launching ON launching.thread = placed.thread AND launching.start_ns = placed.start_ns
        LEFT JOIN outside ON outside.thread = placed.thread AND outside.start_ns = placed.start_ns
        LEFT JOIN usual ON usual.thread = placed.thread AND usual.previous_part = placed.previous_part
        ASOF LEFT JOIN samples
            ON samples.recording = placed.recording
            AND samples.ts_ns >= placed.end_ns
        WHERE placed.part = 'unknown'
    ),
    judged AS (
        SELECT
            seen.thread,
            seen.start_ns,
            rules.phase_stability_count,
            CASE
                WHEN rules.nccl_detection AND seen.previous_part = 'collective' AND seen.futex_waits > 0
                    THEN 'futex waits after a collective'
                WHEN seen.io_wait > rules.io_wait_threshold AND seen.utilization < rules.gpu_idle_threshold
                    THEN 'I/O wait, idle GPU'
                WHEN seen.previous_part = 'gpu_wait'
                    AND seen.dur_ns < rules.optimizer_burst_max_ns
                    AND coalesce(purposes.purpose <> 'inference', TRUE)
                    THEN 'burst after a wait for the GPU'
                WHEN seen.utilization > rules.gpu_active_threshold THEN 'busy GPU'
                WHEN seen.io_wait > 0.5 * rules.io_wait_threshold
                    AND seen.utilization > rules.gpu_idle_threshold
                    AND seen.utilization < rules.gpu_active_threshold
                    THEN 'I/O wait, GPU in use'
            END AS rule
        FROM seen
        JOIN phase_rules AS rules ON rules.recording = seen.recording
        LEFT JOIN _purposes AS purposes ON purposes.recording = seen.recording AND purposes.pid = seen.pid
    )
SELECT
    thread, -- number of the training thread
    start_ns, -- [ns] begin of the piece of time
    CASE
        WHEN rule LIKE 'I/O wait%' THEN 'DataLoading'
        WHEN rule LIKE 'burst%' THEN 'OptimizerStep'
        WHEN rule LIKE 'futex%' THEN 'NcclCollective'
        ELSE 'GpuCompute'
    END AS phase, -- the phase
    rule -- the rule
FROM judged
WHERE rule IS NOT NULL
QUALIFY count(*) OVER (PARTITION BY thread, rule) >= phase_stability_count;

-- The wall time of each training thread in segments that do not overlap, each with its phase.
--
-- These are `_pieces`, and for threads without regions what `phase_rules` make of the time in no call.
--
-- needs: _pieces, _phase_guesses, _thread_numbers
CREATE VIEW _segments AS
SELECT
    threads.recording, -- recording
    threads.pid, -- process
    threads.tid, -- training thread
    threads.thread, -- number of the thread
    pieces.start_ns, -- [ns] begin of the segment
    pieces.end_ns, -- [ns] end of the segment
    pieces.end_ns - pieces.start_ns AS dur_ns, -- [ns] wall time
    pieces.part, -- one of `step_part`, such as data_wait or forward
    CASE
        WHEN pieces.part = 'unknown' THEN coalesce(guesses.phase, 'Unknown')
        WHEN pieces.part IN ('data_wait', 'worker_start') THEN 'DataLoading'
        WHEN pieces.part = 'collective' THEN 'NcclCollective'
        WHEN pieces.part IN ('optimizer_step', 'zero_grad') THEN 'OptimizerStep'
        ELSE 'GpuCompute'
    END AS phase, -- the phase that the part belongs to
    pieces.inferred OR guesses.phase IS NOT NULL AS inferred, -- whether it follows from other events, not from a call
    CASE
        WHEN guesses.phase IS NOT NULL THEN 'rule: ' || guesses.rule
        WHEN pieces.part = 'unknown' THEN 'no call'
        WHEN pieces.inferred THEN 'neighbours'
        ELSE 'calls'
    END AS source -- what says so: calls, neighbours, a rule, or no call
FROM _pieces AS pieces
JOIN _thread_numbers AS threads ON threads.thread = pieces.thread
LEFT JOIN _phase_guesses AS guesses ON guesses.thread = pieces.thread AND guesses.start_ns = pieces.start_ns
