-- In which lines processes without steps spend their time. Of each process it is the threads that compute most.
--
-- Time on a CPU is that of samples, time blocked that of calls. Calls shorter than the recorder's threshold for stacks
-- are counted where longer ones of their name, or samples in it, have their stack. Imports are no rows, nor is the end
-- of the interpreter, and `wall_ns` leaves both out, too. A wait may be for work that is not there, so whether it is
-- too long nobody can say here. Data workers, and recordings in which a thread trains, are no rows.
--
-- Lines of a function of the user's own are also told together: `part` is the outermost one that is not on all stacks,
-- as `main` is.
--
-- needs: stack_events, stack_lines, _stack_frames, line_calls, _working_threads, events
CREATE VIEW lines_without_steps AS
WITH
    constants AS (
        SELECT
            0.9 AS trunk_share, -- of the time, from which on a function that is on the stack says nothing
            0.6 AS same_share, -- of the stacks of a call, that must be in one line for short ones to count there
            0.95 AS all_share -- of the time of a line, from which on a function that it calls is all of it
    ),
    -- A wait in no line of the user's own is one for work, as of an idle worker.
    spent AS (
        SELECT
            events.recording,
            events.pid,
            threads.first_tid AS tid,
            events.id,
            events.kind,
            events.name,
            events.state,
            count(*) AS calls,
            sum(events.ns) AS ns
        FROM stack_events AS events
        JOIN _working_threads AS threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        JOIN stack_lines AS lines ON lines.id = events.id
        ANTI JOIN (SELECT DISTINCT id FROM _stack_frames WHERE is_import(file)) AS imports
            ON imports.id = events.id
        WHERE events.ns > 0
            AND events.start_ns >= threads.work_ns
            AND events.end_ns <= threads.until_ns
            AND (lines.own OR events.state IN ('on-cpu', 'gc'))
        GROUP BY ALL
    ),
    short AS (
        SELECT
            events.recording,
            events.pid,
            threads.first_tid AS tid,
            events.kind,
            events.name,
            CASE
                WHEN events.kind = 'gc' THEN 'gc'
                ELSE waits_for(events.kind, events.name, coalesce(events.object, events.path), FALSE)
            END AS state,
            count(*) AS calls,
            sum(events.dur_ns) AS ns
        FROM events
        JOIN _working_threads AS threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        WHERE (events.kind IN ('io', 'wait', 'gc')) IS TRUE
            AND events.stack IS NULL
            AND events.dur_ns > 0
            AND events.ts_ns >= threads.work_ns
            AND events.ts_ns < threads.until_ns
            AND coalesce(events.depth, 0) = 0
        GROUP BY ALL
    ),
    -- The stack of most calls of a name, by longer calls and by samples in the C library's function for it.
    known AS (
        SELECT
            spent.recording,
            spent.pid,
            spent.tid,
            CASE spent.kind WHEN 'sample' THEN inner_frames.called ELSE spent.name END AS name,
            lines.line,
            arg_max(spent.id, (spent.calls, -spent.id)) AS id,
            sum(spent.calls) AS calls,
            coalesce(sum(spent.ns) FILTER (spent.kind = 'sample'), 0) AS cpu_ns
        FROM spent
        JOIN stack_lines AS lines ON lines.id = spent.id
        LEFT JOIN _stack_frames AS inner_frames ON inner_frames.id = spent.id AND inner_frames.frame = 0
        GROUP BY ALL
    ),
    placed AS (
        SELECT
            recording,
            pid,
            tid,
            name,
            arg_max(id, (calls, -id)) AS id,
            sum(cpu_ns) AS cpu_ns
        FROM known
        CROSS JOIN constants
        WHERE name IS NOT NULL
        GROUP BY recording, pid, tid, name
        HAVING max(calls) >= any_value(constants.same_share) * sum(calls)
    ),
    times AS (
        SELECT recording, pid, tid, id, kind, name, state, calls, ns
        FROM spent
        UNION ALL
        -- What such calls had a CPU for is in their samples.
        SELECT
            short.recording,
            short.pid,
            short.tid,
            placed.id,
            short.kind,
            short.name,
            short.state,
            short.calls,
            short.ns - coalesce(placed.cpu_ns, 0)
        FROM short
        LEFT JOIN placed
            ON placed.recording = short.recording
            AND placed.pid = short.pid
            AND placed.tid = short.tid
            AND placed.name = short.name
        WHERE short.ns > coalesce(placed.cpu_ns, 0) AND (placed.id IS NOT NULL OR short.kind = 'io')
    ),
    rows AS (
        SELECT
            times.recording,
            times.pid,
            times.tid,
            times.id,
            coalesce(lines.line, CASE WHEN times.id IS NOT NULL THEN 'code without a name' END) AS line,
            coalesce(lines.called, CASE WHEN times.kind <> 'sample' THEN times.name END, lines.library) AS called,
            CASE
                WHEN times.state = 'unexplained' AND regexp_matches(times.name, 'poll|select') THEN 'events'
                ELSE times.state
            END AS state,
            sum(times.calls) AS calls,
            sum(times.ns) AS ns
        FROM times
        LEFT JOIN stack_lines AS lines ON lines.id = times.id
        GROUP BY ALL
    ),
    -- Functions of the user's own on the stacks, each once, with the frame of its outermost call.
    own_functions AS (
        SELECT
            sums.recording,
            sums.pid,
            sums.tid,
            sums.id,
            concat_ws(' ', regexp_extract(frames.file, '[^/]*$'), frames.called) AS function,
            max(frames.frame) AS frame,
            any_value(sums.ns) AS ns,
            any_value(sums.all_ns) AS all_ns
        FROM (
            SELECT
                recording,
                pid,
                tid,
                id,
                sum(ns) AS ns,
                sum(sum(ns)) OVER (PARTITION BY recording, pid, tid) AS all_ns
            FROM rows
            GROUP BY recording, pid, tid, id
        ) AS sums
        JOIN _stack_frames AS frames ON frames.id = sums.id
        WHERE frames.own AND frames.called NOT LIKE '%>'
        GROUP BY ALL
    ),
    branches AS (
        SELECT recording, pid, tid, function
        FROM own_functions
        CROSS JOIN constants
        GROUP BY recording, pid, tid, function
        HAVING sum(ns) < any_value(constants.trunk_share * all_ns)
    ),
    parts AS (
        SELECT own.recording, own.pid, own.tid, own.id, arg_max(own.function, own.frame) AS part
        FROM own_functions AS own
        JOIN branches
            ON branches.recording = own.recording
            AND branches.pid = own.pid
            AND branches.tid = own.tid
            AND branches.function = own.function
        GROUP BY own.recording, own.pid, own.tid, own.id
    ),
    lines AS (
        SELECT
            rows.recording,
            rows.pid,
            rows.tid,
            coalesce(parts.part, rows.line, rows.called) AS part,
            rows.line,
            rows.called,
            rows.state,
            sum(rows.calls) AS calls,
            sum(rows.ns) AS total_ns
        FROM rows
        LEFT JOIN parts
            ON parts.recording = rows.recording
            AND parts.pid = rows.pid
            AND parts.tid = rows.tid
            AND parts.id = rows.id
        GROUP BY ALL
    ),
    shares AS (
        SELECT
            rows.recording,
            rows.pid,
            rows.tid,
            rows.line,
            rows.called,
            rows.state,
            calls.function,
            avg(calls.depth) AS depth,
            sum(rows.ns) AS ns
        FROM rows
        JOIN line_calls AS calls ON calls.id = rows.id
        GROUP BY ALL
    ),
    inmost AS (
        SELECT
            shares.recording,
            shares.pid,
            shares.tid,
            shares.line,
            shares.called,
            shares.state,
            arg_max(shares.function, (shares.depth, shares.function)) AS function,
            arg_max(shares.ns / sums.total_ns, (shares.depth, shares.function)) AS share
        FROM shares
        JOIN (
            SELECT recording, pid, tid, line, called, state, sum(total_ns) AS total_ns
            FROM lines
            GROUP BY ALL
        ) AS sums
            ON sums.recording = shares.recording
            AND sums.pid = shares.pid
            AND sums.tid = shares.tid
            AND sums.line = shares.line
            AND sums.called IS NOT DISTINCT FROM shares.called
            AND sums.state = shares.state
        WHERE is_most(shares.ns, sums.total_ns)
        GROUP BY ALL
    )
SELECT
    lines.recording, -- recording
    lines.pid, -- process
    lines.tid, -- its thread that computes most, for all that begin as it does
    working.threads, -- how many these are
    working.comm, -- name of that thread
    working.wall_ns, -- [ns] that all of them work, together: from their imports to their last event
    lines.part, -- function of the user's own, that is left at times: `train.py load`; where there is none, the line
    lines.line, -- where: `train.py:88 log_loss`; NULL for calls of which no stack is known
    lines.called, -- what was called there; NULL where it was in the line itself
    CASE WHEN inmost.function <> lines.called THEN inmost.function END
        AS inner_function, -- function of a package, somewhere below, that most of the time is in; NULL for none
    CASE WHEN inmost.function <> lines.called THEN least(inmost.share, 1) END
        AS inner_share, -- of the time of the line and what it calls there, that is in that function, 0 to 1
    lines.state, -- on-cpu, gc, gpu, collective, events (a poll), or what was waited for, as in off_cpu_spans
    CAST(lines.calls AS BIGINT) AS calls, -- waits, or samples
    CAST(lines.total_ns AS BIGINT) AS total_ns, -- [ns] in that line and state
    least(lines.total_ns / working.wall_ns, 1) AS share, -- of wall_ns, 0 to 1
    least(
        sum(lines.total_ns) OVER (PARTITION BY lines.recording, lines.pid, lines.part) / working.wall_ns,
        1
    ) AS part_share, -- the same of all lines of the part, or of all that is done in the line
    concat_ws(' -> ... -> ', concat_ws(' -> ', lines.line, lines.called), inner_function)
        || CASE WHEN inner_share < constants.all_share THEN format(' ({} of the line)', pct(inner_share)) ELSE '' END
        AS place, -- the line, what was called there and what that was in mostly, in one text
    CASE lines.state
        WHEN 'on-cpu' THEN 'on a CPU'
        WHEN 'gc' THEN 'in Python''s collector'
        WHEN 'gpu' THEN 'waiting for the GPU'
        WHEN 'collective' THEN 'waiting for other ranks'
        WHEN 'thread' THEN 'waiting for another thread'
        WHEN 'process' THEN 'waiting for another process'
        WHEN 'storage' THEN 'blocked on storage'
        WHEN 'socket' THEN 'blocked on a socket'
        WHEN 'pipe' THEN 'blocked on a pipe'
        WHEN 'events' THEN 'waiting for events, as an event loop does'
        ELSE lines.state
    END AS doing -- the state in words
FROM lines
CROSS JOIN constants
JOIN _working_threads AS working
    ON working.recording = lines.recording
    AND working.pid = lines.pid
    AND working.tid = lines.tid
LEFT JOIN inmost
    ON inmost.recording = lines.recording
    AND inmost.pid = lines.pid
    AND inmost.tid = lines.tid
    AND inmost.line = lines.line
    AND inmost.called IS NOT DISTINCT FROM lines.called
    AND inmost.state = lines.state
ORDER BY
    lines.recording,
    working.cpu_ns DESC,
    lines.pid,
    part_share DESC,
    lines.part,
    lines.total_ns DESC,
    lines.line,
    lines.called,
    lines.state
