-- Spans of training threads off their CPU, each with the step and the part of it that it lies in.
--
-- A thread that is off its CPU enters and leaves no call, so a span lies within one part.
--
-- needs: off_cpu_spans, _pieces, steps
CREATE TABLE _off_cpu_steps AS
WITH
    parts AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.tid,
            spans.start_ns,
            spans.dur_ns,
            spans.runq_ns,
            spans.state,
            spans.call,
            spans.call_ns,
            CASE
                WHEN spans.call = 'page_fault' OR spans.call_ns IS NULL THEN 0
                WHEN spans.start_ns = min(spans.start_ns) OVER of_call
                    THEN greatest(spans.call_dur_ns - sum(spans.dur_ns) OVER of_call, 0)
                ELSE 0
            END AS call_cpu_ns,
            spans.object,
            spans.addr,
            spans.status,
            spans.waker_tid,
            spans.other_pid,
            spans.other_comm,
            pieces.part,
            pieces.start_ns AS part_ns
        FROM (SELECT * FROM off_cpu_spans WHERE thread IS NOT NULL) AS spans
        ASOF JOIN _pieces AS pieces
            ON pieces.thread = spans.thread
            AND pieces.start_ns <= spans.start_ns
        WHERE spans.start_ns < pieces.end_ns
        WINDOW of_call AS (PARTITION BY spans.recording, spans.pid, spans.tid, spans.call_ns)
    )
SELECT
    parts.recording, -- recording
    parts.pid, -- process
    parts.tid, -- training thread
    steps.step, -- number of the step
    steps.step_kind, -- warmup, train, evaluation, checkpoint or profiler
    parts.part, -- what the thread did: data_wait, forward, ..., or unknown
    parts.start_ns, -- [ns] when it left its CPU
    least(parts.dur_ns, steps.end_ns - parts.start_ns) AS dur_ns, -- [ns] until it ran again, or the step ended
    least(parts.runq_ns, steps.end_ns - parts.start_ns) AS runq_ns, -- [ns] of it, ready to run, without a CPU
    greatest(least(parts.dur_ns, steps.end_ns - parts.start_ns) - parts.runq_ns, 0)
        AS blocked_ns, -- [ns] of it, blocked
    CASE
        WHEN parts.state IN ('runnable', 'stopped') THEN parts.state
        WHEN parts.part = 'gpu_wait' THEN 'gpu'
        WHEN parts.part = 'collective' THEN 'collective'
        ELSE parts.state
    END AS state, -- as in off_cpu_spans, gpu or collective
    parts.call, -- system call around it
    parts.call_ns, -- [ns] when that began
    parts.call_cpu_ns, -- [ns] on the CPU in that call, told at its first span; 0 for a page fault
    parts.object, -- what it waits for: futex, or the file behind a descriptor
    parts.addr, -- address of the futex
    parts.status, -- result of the call
    parts.waker_tid, -- thread that ended the wait
    parts.other_pid, -- process that had the CPU while the thread could run
    parts.other_comm -- name of the thread that had it
FROM parts
ASOF JOIN steps
    ON steps.recording = parts.recording
    AND steps.pid = parts.pid
    AND steps.tid = parts.tid
    AND steps.start_ns <= parts.start_ns
WHERE parts.start_ns < steps.end_ns
