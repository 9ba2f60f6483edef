-- When training threads of ranks were asleep, and waited neither for data, nor for the GPU, nor for other ranks.
--
-- In a backward pass only where no other thread runs it. Time at the end in which the thread was ready again, without
-- a CPU, does not count.
--
-- needs: _switches, _segments, _launching_threads, _ranked
CREATE TABLE _rank_sleeps AS
WITH
    away AS (
        SELECT
            switches.recording,
            switches.pid,
            switches.tid,
            switches.ts_ns,
            switches.dur_ns - coalesce(switches.runq_ns, 0) AS dur_ns
        FROM _switches AS switches
        SEMI JOIN _ranked AS ranks ON ranks.recording = switches.recording AND ranks.pid = switches.pid
        WHERE switches.dur_ns > coalesce(switches.runq_ns, 0) AND NOT switches.preempted
    )
SELECT
    away.recording, -- recording
    away.pid, -- process
    away.tid, -- training thread
    away.ts_ns, -- [ns] when it left its CPU
    away.dur_ns, -- [ns] asleep
    segments.part = 'unknown' AS between_calls -- whether no call was open
FROM away
ASOF JOIN _segments AS segments
    ON segments.recording = away.recording
    AND segments.pid = away.pid
    AND segments.tid = away.tid
    AND segments.start_ns <= away.ts_ns
WHERE away.ts_ns < segments.end_ns
    AND segments.part NOT IN ('data_wait', 'gpu_wait', 'collective')
    AND (
        segments.part <> 'backward'
        OR (away.recording, away.pid) NOT IN (SELECT recording, pid FROM _launching_threads)
    )
