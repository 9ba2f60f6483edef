-- Time in which training threads were blocked on another thread of their process, within steps of kind train.
--
-- What counts as `gil`, `pool` and `lock`, `_thread_wait_spans` says.
--
-- needs: _thread_wait_spans, steps
CREATE TABLE thread_waits AS
WITH
    trained AS (
        SELECT recording, pid, tid, count(*) AS steps, avg(dur_ns) AS step_ns
        FROM steps
        WHERE step_kind = 'train'
        GROUP BY ALL
    )
SELECT
    waits.recording, -- recording
    waits.pid, -- process
    waits.tid, -- training thread
    waits.kind, -- gil, pool or lock
    any_value(trained.steps) AS steps, -- steps of kind train
    any_value(trained.step_ns) AS step_ns, -- [ns] mean of them
    count(*) AS waits, -- waits
    sum(waits.blocked_ns) / any_value(trained.steps) AS blocked_ns, -- [ns] blocked, in a mean step
    CAST(median(waits.blocked_ns) AS BIGINT) AS p50_ns, -- [ns] median wait
    mode(waits.waker_tid ORDER BY waits.waker_tid) AS waker_tid, -- thread that ended most; NULL where not known
    count(waits.waker_tid) AS woken, -- waits of which it is known
    count(DISTINCT waits.waker_tid) AS wakers -- threads that ended them
FROM _thread_wait_spans AS waits
JOIN trained ON trained.recording = waits.recording AND trained.pid = waits.pid AND trained.tid = waits.tid
GROUP BY waits.recording, waits.pid, waits.tid, waits.kind
ORDER BY waits.recording, waits.pid, waits.tid, waits.kind
