-- Stretches of training steps in which the thread runs in no recorded call and nothing is launched.
--
-- Between two launches of a model lie some 10 us of Python, rarely more than a part of a millisecond. So what is longer
-- is no work of launching: batches made in the loop, logging, other Python. Of processes that launch on a GPU, in steps
-- whose launches are known.
--
-- needs: step_mean, step_work, _segments, _switches, _launched, _sampled
CREATE TABLE _host_stretches AS
WITH
    thresholds AS (
        SELECT
            1000000 AS min_stretch_ns, -- [ns] without a launch or another recorded call
            0.05 AS min_share -- of a step in no recorded call, from which on it is looked at
    ),
    threads AS (
        SELECT recording, pid, tid
        FROM step_mean
        CROSS JOIN thresholds
        WHERE unknown_ns >= thresholds.min_share * step_ns
            AND recording NOT IN (SELECT recording FROM _sampled WHERE kind = 'cuda_launch')
    ),
    trained AS (
        SELECT work.recording, work.pid, work.tid, work.step, work.start_ns, work.end_ns
        FROM step_work AS work
        JOIN threads ON threads.recording = work.recording AND threads.pid = work.pid AND threads.tid = work.tid
        WHERE work.step_kind = 'train' AND work.launches + work.graph_launches > 0
    ),
    unknown AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            trained.step,
            segments.start_ns AS from_ns,
            least(segments.end_ns, trained.end_ns) AS until_ns
        FROM _segments AS segments
        ASOF JOIN trained
            ON trained.recording = segments.recording
            AND trained.pid = segments.pid
            AND trained.tid = segments.tid
            AND trained.start_ns <= segments.start_ns
        CROSS JOIN thresholds
        WHERE segments.phase = 'Unknown'
            AND least(segments.end_ns, trained.end_ns) - segments.start_ns >= thresholds.min_stretch_ns
    ),
    launched AS (
        SELECT _launched.recording, _launched.pid, _launched.at_ns
        FROM _launched
        SEMI JOIN unknown ON unknown.recording = _launched.recording AND unknown.pid = _launched.pid
    ),
    cuts AS (
        SELECT recording, pid, tid, step, from_ns AS at_ns, until_ns
        FROM unknown
        UNION ALL
        SELECT recording, pid, tid, step, at_ns, until_ns
        FROM in_spans(launched, unknown)
    ),
    stretches AS (
        SELECT recording, pid, tid, step, start_ns, end_ns
        FROM (
            SELECT
                recording,
                pid,
                tid,
                step,
                at_ns AS start_ns,
                lead(at_ns, 1, until_ns) OVER (PARTITION BY recording, pid, tid, until_ns ORDER BY at_ns) AS end_ns
            FROM cuts
        )
        CROSS JOIN thresholds
        WHERE end_ns - start_ns >= thresholds.min_stretch_ns
    ),
    switches AS (
        SELECT spans.recording, spans.pid, spans.tid, spans.ts_ns, spans.ts_ns + spans.dur_ns AS end_ns
        FROM _switches AS spans
        SEMI JOIN threads
            ON threads.recording = spans.recording
            AND threads.pid = spans.pid
            AND threads.tid = spans.tid
        WHERE spans.dur_ns > 0
    ),
    -- What begins in a stretch, and what lasts from before it, as another thread may launch meanwhile.
    off AS (
        SELECT
            stretches.recording,
            stretches.pid,
            stretches.tid,
            stretches.start_ns,
            sum(least(switches.end_ns, stretches.end_ns) - switches.ts_ns) AS dur_ns
        FROM switches
        ASOF JOIN stretches
            ON stretches.recording = switches.recording
            AND stretches.pid = switches.pid
            AND stretches.tid = switches.tid
            AND stretches.start_ns <= switches.ts_ns
        WHERE switches.ts_ns < stretches.end_ns
        GROUP BY ALL
    ),
    lasting AS (
        SELECT
            stretches.*,
            CASE
                WHEN switches.end_ns > stretches.start_ns
                    THEN least(switches.end_ns, stretches.end_ns) - stretches.start_ns
                ELSE 0
            END AS before_ns
        FROM stretches
        ASOF LEFT JOIN switches
            ON switches.recording = stretches.recording
            AND switches.pid = stretches.pid
            AND switches.tid = stretches.tid
            AND switches.ts_ns < stretches.start_ns
    )
SELECT
    stretches.recording, -- recording
    stretches.pid, -- process
    stretches.tid, -- training thread
    stretches.step, -- number of the step
    stretches.start_ns, -- [ns] start
    stretches.end_ns, -- [ns] end
    coalesce(off.dur_ns, 0) + stretches.before_ns AS off_cpu_ns -- [ns] of it off the CPU
FROM lasting AS stretches
LEFT JOIN off
    ON off.recording = stretches.recording
    AND off.pid = stretches.pid
    AND off.tid = stretches.tid
    AND off.start_ns = stretches.start_ns;
