-- Parts of the phases of each training thread, such as forward and backward within GpuCompute.
--
-- needs: _segments, steps
CREATE VIEW phase_parts AS
WITH
    segments AS (
        SELECT recording, pid, tid AS thread_tid, phase, part, start_ns AS at_ns, dur_ns
        FROM _segments
    ),
    train_steps AS (
        SELECT recording, pid, tid, start_ns AS from_ns, end_ns AS until_ns
        FROM steps
        WHERE step_kind = 'train'
    ),
    trained AS (
        SELECT recording, pid, tid, phase, part, sum(dur_ns) AS dur_ns
        FROM in_spans(segments, train_steps)
        WHERE thread_tid = tid
        GROUP BY ALL
    ),
    parts AS (
        SELECT recording, pid, tid, phase, part, bool_or(inferred) AS inferred, sum(dur_ns) AS total_ns
        FROM _segments
        GROUP BY ALL
    )
SELECT
    parts.recording, -- recording
    parts.pid, -- process
    parts.tid, -- training thread
    parts.phase, -- phase
    CAST(parts.part AS VARCHAR) AS part, -- data_wait, worker_start, forward, evaluation, backward, compute, gpu_wait,
    -- collective, optimizer_step, zero_grad or unknown
    parts.inferred, -- whether it follows from its neighbours, not from a call
    CAST(parts.total_ns AS BIGINT) AS total_ns, -- [ns] wall time
    parts.total_ns / sum(parts.total_ns) OVER (PARTITION BY parts.recording, parts.pid, parts.tid)
        AS share, -- share of the thread's wall time, 0 to 1
    CAST(coalesce(trained.dur_ns, 0) AS BIGINT) AS train_ns -- [ns] of total_ns in steps of kind train
FROM parts
LEFT JOIN trained
    ON trained.recording = parts.recording
    AND trained.pid = parts.pid
    AND trained.tid = parts.tid
    AND trained.phase = parts.phase
    AND trained.part = parts.part
ORDER BY parts.recording, parts.pid, parts.tid, parts.phase, parts.total_ns DESC, parts.part
