-- Events with a stack by their line, each with what the training thread did at that moment.
--
-- From these rows the header line `lines:` of a finding selects those that hold its time. The steps and parts are those
-- of the training thread itself, and for other threads and data workers those of the training thread that they belong
-- to. The line is one of the user's own code where the stack has one: the innermost. In slow steps, and in evaluation,
-- it is the innermost of a function that ordinary steps do not have, if there is one: not in the model's forward pass,
-- which all have, but where that is called.
--
-- needs: stack_events, stack_lines, processes, workers, _thread_numbers, steps, _step_counts, _pieces, _evaluations
-- needs: _thread_wait_spans, gc_runs, step_outliers, _module_stacks, _own_stacks, _waited_processes, _lock_queues
-- needs: _calling_stacks, events, _own_frames
CREATE TABLE line_times AS
WITH
    constants AS (
        SELECT 0.1 AS told -- share of the waits for other processes that stacks must hold; below it no line is told
    ),
    parents AS (
        SELECT recording, pid, any_value(ppid) AS ppid
        FROM workers
        GROUP BY ALL
    ),
    -- A process that trains is none that another training owns.
    waited AS (
        SELECT others.recording, others.other_pid, min(others.pid) AS pid
        FROM _waited_processes AS others
        JOIN processes
            ON processes.recording = others.recording
            AND processes.pid = others.other_pid
            AND processes.role NOT IN ('training', 'inference', 'data worker')
        GROUP BY ALL
    ),
    owned AS (
        SELECT
            row_number() OVER (ORDER BY events.recording, events.tid, events.start_ns, events.kind) AS number,
            events.recording,
            events.pid,
            events.tid,
            events.middle_ns AS at_ns,
            events.end_ns,
            events.kind,
            events.name,
            events.state,
            events.ns,
            events.for_memory,
            events.bytes,
            events.id,
            CASE
                WHEN own.thread IS NOT NULL THEN 'training'
                WHEN parents.ppid IS NOT NULL OR processes.role = 'data worker' THEN 'worker'
                WHEN processes.role IN ('training', 'inference') THEN 'other'
                ELSE 'process'
            END AS thread,
            waited.pid IS NOT NULL AS is_waited,
            coalesce(parents.ppid, waited.pid, events.pid) AS train_pid,
            coalesce(own.tid, counts.tid) AS train_tid
        FROM stack_events AS events
        LEFT JOIN _thread_numbers AS own
            ON own.recording = events.recording
            AND own.pid = events.pid
            AND own.tid = events.tid
        LEFT JOIN processes ON processes.recording = events.recording AND processes.pid = events.pid
        LEFT JOIN parents ON parents.recording = events.recording AND parents.pid = events.pid
        LEFT JOIN waited ON waited.recording = events.recording AND waited.other_pid = events.pid
        LEFT JOIN _step_counts AS counts
            ON counts.recording = events.recording
            AND counts.pid = coalesce(parents.ppid, waited.pid, events.pid)
        WHERE events.ns > 0
    ),
    timed AS (
        SELECT
            owned.*,
            numbers.thread AS train_thread,
            steps.step,
            steps.step_kind,
            steps.end_ns AS step_end_ns
        FROM owned
        LEFT JOIN _thread_numbers AS numbers
            ON numbers.recording = owned.recording
            AND numbers.pid = owned.train_pid
            AND numbers.tid = owned.train_tid
        ASOF LEFT JOIN steps
            ON steps.recording = owned.recording
            AND steps.pid = owned.train_pid
            AND steps.tid = owned.train_tid
            AND steps.start_ns <= owned.at_ns
    ),
    parted AS (
        SELECT
            timed.*,
            pieces.part,
            pieces.end_ns AS part_end_ns
        FROM timed
        ASOF LEFT JOIN _pieces AS pieces
            ON pieces.thread = timed.train_thread
            AND pieces.start_ns <= timed.at_ns
    ),
    evaluated AS (
        SELECT
            parted.*,
            coalesce(parted.at_ns < evaluations.end_ns, FALSE) AS evaluates
        FROM parted
        ASOF LEFT JOIN _evaluations AS evaluations
            ON evaluations.thread = parted.train_thread
            AND evaluations.start_ns <= parted.at_ns
    ),
    -- A process that ends soon has no stacks of most of its time, as its memory can no longer be read.
    waited_times AS (
        SELECT others.recording, others.pid, sum(others.waited_ns) AS waited_ns
        FROM _waited_processes AS others
        SEMI JOIN waited
            ON waited.recording = others.recording
            AND waited.other_pid = others.other_pid
            AND waited.pid = others.pid
        GROUP BY ALL
    ),
    serving AS (
        SELECT events.recording, events.train_pid
        FROM evaluated AS events
        JOIN waited_times AS times ON times.recording = events.recording AND times.pid = events.train_pid
        CROSS JOIN constants
        WHERE events.is_waited
            AND events.state NOT IN ('pipe', 'socket', 'thread', 'process')
            AND events.step_kind = 'train'
            AND events.at_ns < events.step_end_ns
        GROUP BY ALL
        HAVING sum(events.ns) >= any_value(constants.told * times.waited_ns)
    ),
    -- Of what another thread does for a training thread that waits, the end counts: then it lets go.
    points AS (
        SELECT recording, pid, tid, CASE WHEN thread = 'training' THEN at_ns ELSE end_ns - 1 END AS at_ns, number
        FROM owned
        WHERE thread IN ('training', 'other', 'process')
    ),
    waits AS (
        SELECT recording, pid, from_ns, until_ns, tid AS waiter_tid, waker_tid, kind
        FROM _thread_wait_spans
        UNION ALL
        SELECT recording, pid, start_ns, start_ns + dur_ns, tid, NULL, 'gc'
        FROM gc_runs
        UNION ALL
        SELECT runs.recording, runs.pid, runs.ts_ns, runs.ts_ns + runs.dur_ns, runs.tid, NULL, 'gc'
        FROM events AS runs
        JOIN processes ON processes.recording = runs.recording AND processes.pid = runs.pid
        WHERE runs.kind = 'gc' AND runs.dur_ns > 0 AND processes.role = 'other'
        UNION ALL
        SELECT recording, pid, from_ns, until_ns, tid, waker_tid, kind
        FROM _lock_queues
    ),
    -- Of a training thread only its own waits, of other threads those that a training thread is in.
    meanwhile AS (
        SELECT
            number,
            coalesce(min(kind) FILTER (tid = waiter_tid), min(kind)) AS waits,
            bool_or(tid = waiter_tid) AS stands,
            coalesce(bool_or(tid = waker_tid), FALSE) AS wakes
        FROM in_spans(points, waits)
        WHERE tid = waiter_tid
            OR (recording, pid, tid) NOT IN (SELECT (recording, pid, tid) FROM _thread_numbers)
        GROUP BY number
    ),
    slow AS (
        SELECT recording, pid, tid, step
        FROM step_outliers
        WHERE reason IS NULL
    ),
    told_apart AS (
        SELECT DISTINCT thread
        FROM _pieces
        WHERE part = 'forward'
    ),
    first_steps AS (
        SELECT recording, pid, tid, min(step) AS step
        FROM steps
        WHERE step_kind = 'train'
        GROUP BY ALL
    ),
    classes AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            steps.step,
            CASE
                WHEN steps.step_kind = 'train'
                    THEN ntile(4) OVER (
                        PARTITION BY steps.recording, steps.pid, steps.tid, steps.step_kind
                        ORDER BY steps.step
                    )
            END AS quarter,
            CASE
                WHEN slow.step IS NOT NULL THEN 'slow'
                WHEN steps.step_kind = 'warmup' AND steps.step > first_steps.step THEN 'compile'
                ELSE steps.step_kind
            END AS step_class
        FROM steps
        LEFT JOIN slow
            ON slow.recording = steps.recording
            AND slow.pid = steps.pid
            AND slow.tid = steps.tid
            AND slow.step = steps.step
        LEFT JOIN first_steps
            ON first_steps.recording = steps.recording
            AND first_steps.pid = steps.pid
            AND first_steps.tid = steps.tid
    ),
    counted AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            step_class,
            quarter,
            count(*) OVER (PARTITION BY recording, pid, tid, step_class) AS steps,
            count(*) OVER (PARTITION BY recording, pid, tid, quarter) AS quarter_steps
        FROM classes
    ),
    classed AS (
        SELECT
            evaluated.*,
            counted.step_class,
            counted.steps AS class_steps,
            counted.quarter,
            counted.quarter_steps,
            CASE
                WHEN evaluated.thread <> 'training' THEN NULL
                WHEN evaluated.evaluates THEN 'evaluation'
                WHEN evaluated.at_ns < evaluated.step_end_ns THEN counted.step_class
            END AS line_class
        FROM evaluated
        LEFT JOIN counted
            ON counted.recording = evaluated.recording
            AND counted.pid = evaluated.train_pid
            AND counted.tid = evaluated.train_tid
            AND counted.step = evaluated.step
    ),
    ordinary AS (
        SELECT DISTINCT events.recording, events.train_pid, frames.file, frames.function
        FROM classed AS events
        JOIN _own_frames AS frames ON frames.id = events.id
        WHERE events.line_class = 'train'
    ),
    callers AS (
        SELECT
            events.recording,
            events.train_pid,
            events.id,
            events.line_class,
            arg_min(frames.line, frames.depth) AS line,
            arg_min(frames.called, frames.depth) AS called
        FROM (
            SELECT DISTINCT recording, train_pid, id, line_class
            FROM classed
            WHERE line_class IN ('slow', 'evaluation')
        ) AS events
        JOIN _own_frames AS frames ON frames.id = events.id
        ANTI JOIN ordinary
            ON ordinary.recording = events.recording
            AND ordinary.train_pid = events.train_pid
            AND ordinary.file = frames.file
            AND ordinary.function = frames.function
        GROUP BY events.recording, events.train_pid, events.id, events.line_class
        HAVING min(frames.depth) > 1
    )
SELECT
    events.recording, -- recording
    events.pid, -- process
    events.tid, -- thread
    events.train_pid, -- process that trains: its own, or the one that a data worker works for, or that waits for it
    events.thread, -- training (a training thread), other (of its process), worker (of its data), or process (another)
    events.at_ns, -- [ns] middle of the event
    events.kind, -- kind of event
    events.name, -- function or system call
    events.state, -- on-cpu, gpu, collective, gc, or what was waited for, as in stack_events
    events.ns, -- [ns] time that it stands for
    events.for_memory, -- whether the kernel was in a fault or a call for memory
    events.bytes, -- [bytes] of it
    CASE WHEN events.at_ns < events.step_end_ns THEN events.step END AS step, -- number of the step
    CASE WHEN events.at_ns < events.step_end_ns THEN events.step_kind END
        AS step_kind, -- warmup, train, evaluation, checkpoint or profiler
    CASE WHEN events.at_ns < events.step_end_ns THEN events.step_class END
        AS step_class, -- the same, but slow for outliers without another reason, compile for a later warmup
    CASE
        WHEN events.at_ns >= events.step_end_ns THEN NULL
        WHEN events.step_class = 'train' THEN -events.ns / events.class_steps
        ELSE events.ns / events.class_steps
    END AS excess_ns, -- [ns] of a mean step of that class, negative for train: adds up to what others have more
    CASE
        WHEN events.at_ns >= events.step_end_ns THEN NULL
        WHEN events.quarter = 4 THEN events.ns / events.quarter_steps
        WHEN events.quarter = 1 THEN -events.ns / events.quarter_steps
    END AS growth_ns, -- [ns] of a mean step of the last quarter, negative of the first: adds up to what it has more
    CASE WHEN events.at_ns < events.part_end_ns THEN CAST(events.part AS VARCHAR) END
        AS part, -- what the training thread did: data_wait, forward, ..., or unknown
    CASE
        WHEN events.thread = 'worker' AND events.tid <> events.pid
            THEN events.state IN ('on-cpu', 'storage') AND lines.python
        WHEN events.thread = 'worker' THEN events.state NOT IN ('pipe', 'thread')
        WHEN events.thread = 'training'
            THEN coalesce(events.at_ns < events.part_end_ns AND events.part = 'data_wait', FALSE)
                AND events.state NOT IN ('pipe', 'thread')
        ELSE FALSE
    END AS loads, -- whether data was loaded: by a worker that did not wait for work, or by the thread that wants it
    coalesce(
        events.thread = 'training'
            AND events.kind = 'sample'
            AND events.step_kind = 'train'
            AND events.part = 'unknown'
            AND events.at_ns < least(events.step_end_ns, events.part_end_ns),
        FALSE
    ) AS works, -- whether a training thread was on a CPU in no recorded call, in a step of training
    coalesce(modules.forward AND told_apart.thread IS NULL, FALSE)
        AS in_forward, -- whether the stack is one of a forward pass: in a module, where no part of the steps is forward
    coalesce(
        events.thread = 'training'
            AND events.kind = 'sample'
            AND events.step_kind = 'train'
            AND events.at_ns < least(events.step_end_ns, events.part_end_ns)
            AND (events.part = 'forward' AND own.id IS NOT NULL OR events.part = 'backward' AND own.in_torch),
        FALSE
    ) AS in_pass, -- whether it ran Python code of the user's own in a forward or backward pass, in a step of training
    calling.id IS NOT NULL
            AND events.kind = 'sample'
            AND CASE events.thread
                WHEN 'process' THEN TRUE
                WHEN 'training' THEN coalesce(
                    events.step_kind = 'train'
                        AND events.at_ns < least(events.step_end_ns, events.part_end_ns)
                        AND (events.part = 'forward' OR events.part = 'unknown' AND in_forward),
                    FALSE
                )
                ELSE FALSE
            END
        AS calls, -- whether it was in what surrounds operators: in a forward pass, or in a process without steps
    events.evaluates, -- whether it was in an evaluation loop
    meanwhile.waits, -- for what threads stood: gil, pool, lock (thread_waits), line (_lock_queues), gc; else NULL
    coalesce(meanwhile.stands, FALSE) AS stands, -- whether it is this thread that stood for it
    coalesce(meanwhile.wakes, FALSE) AS wakes, -- whether this other thread ended that wait
    events.is_waited
            AND serving.train_pid IS NOT NULL
            AND events.state NOT IN ('pipe', 'socket', 'thread', 'process')
        AS serves, -- whether another process that a training thread waits for did this, and did not wait itself
    coalesce(callers.line, lines.line) AS line, -- where: `train.py:88 log_loss`
    coalesce(callers.called, lines.called, CASE WHEN events.kind <> 'sample' THEN events.name END, lines.library)
        AS called, -- what was called there; NULL where the thread was in the line itself
    lines.own, -- whether the line is of the user's own code
    lines.python, -- whether Python's code is in the stack
    events.id -- number of the stack
FROM classed AS events
JOIN stack_lines AS lines ON lines.id = events.id
LEFT JOIN _module_stacks AS modules ON modules.id = events.id
LEFT JOIN _own_stacks AS own ON own.id = events.id
LEFT JOIN _calling_stacks AS calling ON calling.id = events.id
LEFT JOIN told_apart ON told_apart.thread = events.train_thread
LEFT JOIN serving ON serving.recording = events.recording AND serving.train_pid = events.train_pid
LEFT JOIN meanwhile ON meanwhile.number = events.number
LEFT JOIN callers
    ON callers.recording = events.recording
    AND callers.train_pid = events.train_pid
    AND callers.id = events.id
    AND callers.line_class = events.line_class
