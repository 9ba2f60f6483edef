-- In which lines processes without steps spend their time. Of each process it is the thread that computes most.
--
-- Time on a CPU is that of samples, time blocked that of calls from the recorder's threshold on. Imports are no rows:
-- they are over when the work begins, and `wall_ns` leaves them out, too. A wait may be for work that is not there, so
-- whether it is too long nobody can say here. Data workers, and recordings in which a thread trains, are no rows.
--
-- needs: stack_events, stack_lines, _stack_frames, processes, _threads, training_threads
CREATE VIEW lines_without_steps AS
WITH
    constants AS (
        SELECT 3 AS min_samples -- of the user's own code on a CPU: with fewer, no thread is known to compute most
    ),
    imports AS (
        SELECT DISTINCT id
        FROM _stack_frames
        WHERE file LIKE '%importlib._bootstrap%'
    ),
    times AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            lines.line,
            coalesce(lines.called, CASE WHEN events.kind <> 'sample' THEN events.name END, lines.library) AS called,
            lines.own AND imports.id IS NULL AS own,
            imports.id IS NOT NULL AS importing,
            CASE
                WHEN events.state = 'unexplained' AND regexp_matches(events.name, 'poll|select') THEN 'events'
                ELSE events.state
            END AS state,
            events.kind,
            count(*) AS calls,
            sum(events.ns) AS total_ns
        FROM stack_events AS events
        JOIN stack_lines AS lines ON lines.id = events.id
        LEFT JOIN imports ON imports.id = events.id
        ANTI JOIN training_threads AS trained ON trained.recording = events.recording
        ANTI JOIN (SELECT recording, pid FROM processes WHERE role = 'data worker') AS loading
            ON loading.recording = events.recording AND loading.pid = events.pid
        WHERE events.ns > 0
        GROUP BY ALL
    ),
    busiest AS (
        SELECT
            recording,
            pid,
            tid,
            sum(total_ns) FILTER (importing) AS import_ns,
            sum(total_ns) FILTER (own AND kind = 'sample') AS cpu_ns
        FROM times
        CROSS JOIN constants
        GROUP BY recording, pid, tid
        HAVING sum(calls) FILTER (own AND kind = 'sample') >= any_value(constants.min_samples)
        QUALIFY row_number() OVER (
            PARTITION BY recording, pid
            ORDER BY sum(total_ns) FILTER (own AND kind = 'sample') DESC, tid
        ) = 1
    ),
    lives AS (
        SELECT
            busiest.recording,
            busiest.pid,
            busiest.tid,
            any_value(busiest.cpu_ns) AS cpu_ns,
            arg_max(threads.comm, threads.last_ns) AS comm,
            greatest(max(threads.last_ns) - min(threads.first_ns) - coalesce(any_value(busiest.import_ns), 0), 1)
                AS wall_ns
        FROM busiest
        JOIN _threads AS threads
            ON threads.recording = busiest.recording
            AND threads.pid = busiest.pid
            AND threads.tid = busiest.tid
        GROUP BY busiest.recording, busiest.pid, busiest.tid
    )
SELECT
    times.recording, -- recording
    times.pid, -- process
    times.tid, -- its thread that computes most in code of the user's own
    lives.comm, -- name of that thread
    CAST(lives.wall_ns AS BIGINT) AS wall_ns, -- [ns] from its first to its last event, without imports
    times.line, -- where: `train.py:88 log_loss`
    times.called, -- what was called there; NULL where the thread was in the line itself
    times.state, -- on-cpu, gc, gpu, collective, events (a poll), or what was waited for, as in off_cpu_spans
    CAST(times.calls AS BIGINT) AS calls, -- waits, or samples
    CAST(times.total_ns AS BIGINT) AS total_ns, -- [ns] in that line and state
    least(times.total_ns / lives.wall_ns, 1) AS share, -- of wall_ns, 0 to 1
    concat_ws(' -> ', times.line, times.called) AS place, -- the line and what was called there, in one text
    CASE times.state
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
        ELSE times.state
    END AS doing -- the state in words
FROM times
JOIN lives ON lives.recording = times.recording AND lives.pid = times.pid AND lives.tid = times.tid
WHERE times.own
ORDER BY times.recording, lives.cpu_ns DESC, times.pid, times.total_ns DESC, times.line, times.called, times.state
