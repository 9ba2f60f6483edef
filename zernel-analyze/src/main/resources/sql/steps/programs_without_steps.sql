-- Commands that loaded neither PyTorch nor CUDA since they were started, and what was seen of them instead.
--
-- One process of each, the one that used the most CPU time. Without a step nothing can be said per step, until somebody
-- names the parts of one: `--probe` with roles, or regions. Recordings in which a thread trains are no rows, nor those
-- of processes that ran before: what these had loaded, and done, nobody saw. Time on a CPU is a life less all recorded
-- time off it, so an upper bound.
--
-- needs: recordings, kinds, training_threads, _threads, _process_info, events
-- digest: kept
CREATE VIEW programs_without_steps AS
WITH
    constants AS (
        SELECT
            4 AS most_calls, -- functions and system calls that are named
            0.001 AS least_share -- of the main thread's life that each of them takes
    ),
    plain AS (
        SELECT recordings.recording
        FROM recordings
        ANTI JOIN training_threads ON training_threads.recording = recordings.recording
        JOIN kinds ON kinds.recording = recordings.recording
        WHERE recordings.command <> ''
        GROUP BY recordings.recording
        HAVING bool_and(kinds.state = 'waiting') FILTER (WHERE kinds.kind IN ('backward', 'cuda_launch'))
            AND bool_or(kinds.kind = 'sched' AND kinds.state = 'attached')
    ),
    lives AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            max(threads.last_ns) - min(threads.first_ns) AS life_ns,
            arg_max(threads.comm, threads.last_ns) AS comm
        FROM _threads AS threads
        JOIN plain ON plain.recording = threads.recording
        GROUP BY threads.recording, threads.pid, threads.tid
    ),
    gone AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            sum(events.dur_ns) AS off_ns,
            sum(coalesce(events.runq_ns, 0)) AS ready_ns
        FROM events
        JOIN plain ON plain.recording = events.recording
        WHERE events.kind = 'sched'
        GROUP BY ALL
    ),
    programs AS (
        SELECT
            lives.recording,
            lives.pid,
            any_value(lives.comm) FILTER (WHERE lives.tid = lives.pid) AS comm,
            count(*) AS threads,
            max(lives.life_ns) FILTER (WHERE lives.tid = lives.pid) AS life_ns,
            sum(greatest(lives.life_ns - coalesce(gone.off_ns, 0), 0)) AS cpu_ns,
            any_value(coalesce(gone.off_ns, 0)) FILTER (WHERE lives.tid = lives.pid) AS off_ns,
            any_value(coalesce(gone.ready_ns, 0)) FILTER (WHERE lives.tid = lives.pid) AS ready_ns
        FROM lives
        LEFT JOIN gone ON gone.recording = lives.recording AND gone.pid = lives.pid AND gone.tid = lives.tid
        GROUP BY lives.recording, lives.pid
        HAVING max(lives.life_ns) FILTER (WHERE lives.tid = lives.pid) > 0
    ),
    busiest AS (
        SELECT recording, pid, comm, threads, life_ns, cpu_ns, off_ns, ready_ns
        FROM programs
        QUALIFY row_number() OVER (PARTITION BY recording ORDER BY cpu_ns DESC, pid) = 1
    ),
    calls AS (
        SELECT
            events.recording,
            events.pid,
            CASE events.kind WHEN 'gc' THEN 'Python''s collector' ELSE events.name END || CASE events.kind
                WHEN 'wait' THEN coalesce(' on ' || CASE WHEN events.kind = 'wait' THEN events.object END, '')
                WHEN 'io' THEN ' (' || size(coalesce(sum(events.bytes), 0)) || ')'
                ELSE ''
            END AS what,
            count(*) AS calls,
            sum(events.dur_ns) AS sum_ns
        FROM events
        JOIN busiest ON busiest.recording = events.recording AND busiest.pid = events.pid
        WHERE events.kind NOT IN ('sched', 'mark', 'lost', 'process')
            AND coalesce(events.depth, 0) = 0
            AND events.tid = events.pid
        GROUP BY
            events.recording,
            events.pid,
            events.kind,
            events.name,
            CASE WHEN events.kind = 'wait' THEN events.object END
        HAVING sum(events.dur_ns) > 0
    ),
    longest AS (
        SELECT calls.recording, calls.pid, calls.what, calls.calls, calls.sum_ns
        FROM calls
        JOIN busiest ON busiest.recording = calls.recording AND busiest.pid = calls.pid
        CROSS JOIN constants
        WHERE calls.sum_ns >= constants.least_share * busiest.life_ns
        QUALIFY row_number() OVER (PARTITION BY calls.recording ORDER BY calls.sum_ns DESC, calls.what)
            <= constants.most_calls
    ),
    lists AS (
        SELECT
            recording,
            pid,
            string_agg(
                format('{} {} in {} call{}', what, ms(sum_ns), calls, CASE calls WHEN 1 THEN '' ELSE 's' END),
                ', ' ORDER BY sum_ns DESC, what
            ) AS text
        FROM longest
        GROUP BY recording, pid
    )
SELECT
    busiest.recording, -- recording
    busiest.pid, -- process
    coalesce(nullif(info.cmdline, ''), busiest.comm) AS program, -- its command line, or its name
    busiest.life_ns, -- [ns] from the first to the last event of its main thread
    CAST(busiest.life_ns - least(busiest.off_ns, busiest.life_ns) AS BIGINT) AS cpu_ns, -- [ns] of it on a CPU, at most
    CAST(busiest.ready_ns AS BIGINT) AS ready_ns, -- [ns] of it ready to run, without a CPU
    CAST(busiest.off_ns - busiest.ready_ns AS BIGINT) AS asleep_ns, -- [ns] of it asleep or blocked
    busiest.threads, -- its threads with events
    CAST(busiest.cpu_ns AS BIGINT) AS threads_cpu_ns, -- [ns] of all its threads on a CPU, at most
    lists.text AS calls, -- what took the main thread longest, by time in calls: functions, waits, reads
    format('{:.1f} s of its main thread: {} on a CPU at most, {} ready without one, {} asleep or blocked',
        busiest.life_ns / 1e9, pct((busiest.life_ns - least(busiest.off_ns, busiest.life_ns)) / busiest.life_ns),
        pct(busiest.ready_ns / busiest.life_ns), pct((busiest.off_ns - busiest.ready_ns) / busiest.life_ns))
        || CASE
            WHEN busiest.threads > 1
                THEN format('; all {} threads used {:.1f} s of CPU time at most', busiest.threads, busiest.cpu_ns / 1e9)
            ELSE ''
        END
        || coalesce('; longest in calls: ' || lists.text, '') AS seen -- the same in words
FROM busiest
LEFT JOIN lists ON lists.recording = busiest.recording AND lists.pid = busiest.pid
LEFT JOIN _process_info AS info ON info.recording = busiest.recording AND info.pid = busiest.pid
ORDER BY busiest.recording
