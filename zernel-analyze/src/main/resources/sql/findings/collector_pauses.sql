-- Python's garbage collector stops the program again and again. While it runs, no thread of the process runs Python.
--
-- Of processes without steps, such as servers: all runs that took 100 us or longer, whichever thread they were in.
-- With stacks, those while modules are imported at the start and while the interpreter ends do not count.
-- Does not apply to trainings (gc_stall), nor to runs only at the start and at the end of a process.
--
-- needs: events, processes, _threads, _working_threads, stack_events, stack_lines
-- severity: high from 25 % of the time of the process, medium from 10 %
-- hint: gc.callbacks tell a program when it runs; `zernel-record probes` says whether its Python can be probed (gc)
-- lines: the collections WHERE thread = 'process' AND waits = 'gc' AND stands
WITH
    thresholds AS (
        SELECT
            5 AS min_tenths, -- tenths of the time of the process that have runs: not only its start and its end
            5000000000 AS min_ns, -- [ns] from its start to its end: a shorter life is its start and its end
            0.05 AS min_share, -- of the time of the process
            0.25 AS high_share, -- for high severity
            0.1 AS medium_share -- for medium severity
    ),
    begins AS (
        SELECT recording, pid, min(work_ns) AS first_ns
        FROM _working_threads
        GROUP BY recording, pid
    ),
    -- The interpreter ends when no code of the user's own is left on its stacks.
    ends AS (
        SELECT events.recording, events.pid, max(events.end_ns) AS last_ns
        FROM stack_events AS events
        JOIN stack_lines AS lines ON lines.id = events.id AND lines.own
        GROUP BY events.recording, events.pid
    ),
    lives AS (
        SELECT
            lives.recording,
            lives.pid,
            lives.last_ns - lives.first_ns AS life_ns,
            coalesce(begins.first_ns, lives.first_ns) AS first_ns,
            lives.last_ns,
            CASE WHEN begins.first_ns < ends.last_ns THEN ends.last_ns ELSE lives.last_ns END AS works_until_ns
        FROM (
            SELECT recording, pid, min(first_ns) AS first_ns, max(last_ns) AS last_ns
            FROM _threads
            GROUP BY recording, pid
        ) AS lives
        LEFT JOIN begins ON begins.recording = lives.recording AND begins.pid = lives.pid
        LEFT JOIN ends ON ends.recording = lives.recording AND ends.pid = lives.pid
    ),
    runs AS (
        SELECT
            runs.recording,
            runs.pid,
            any_value(lives.life_ns) AS life_ns,
            any_value(lives.last_ns - lives.first_ns) AS wall_ns,
            count(*) AS runs,
            count(DISTINCT 10 * (runs.ts_ns - lives.first_ns) // (lives.last_ns - lives.first_ns)) AS tenths,
            sum(runs.dur_ns) AS sum_ns,
            median(runs.dur_ns) AS p50_ns,
            max(runs.dur_ns) AS max_ns,
            count(*) FILTER (runs.name = 'gc.collect') AS asked,
            coalesce(sum(runs.dur_ns) FILTER (runs.name = 'gc.collect'), 0) AS asked_ns,
            coalesce(sum(runs.dur_ns) FILTER (runs.generation = 2), 0) AS full_ns
        FROM events AS runs
        JOIN processes
            ON processes.recording = runs.recording
            AND processes.pid = runs.pid
            AND processes.role = 'other'
        JOIN lives
            ON lives.recording = runs.recording
            AND lives.pid = runs.pid
            AND lives.first_ns <= runs.ts_ns
            AND lives.works_until_ns >= runs.ts_ns
            AND lives.last_ns > lives.first_ns
        WHERE runs.kind = 'gc' AND runs.dur_ns > 0
        GROUP BY runs.recording, runs.pid
    )
SELECT
    runs.recording, -- recording
    runs.pid, -- process
    round(100 * sum_ns / wall_ns, 1) AS value, -- percent of the time of the process
    '% of its time' AS unit, -- unit of value
    CASE
        WHEN sum_ns >= high_share * wall_ns THEN 'high'
        WHEN sum_ns >= medium_share * wall_ns THEN 'medium'
        ELSE 'low'
    END AS severity, -- high, medium or low
    format('{:.2f} s of {:.2f} s in {} runs of {} (median), {} the longest; {} of that time over all objects; ',
        sum_ns / 1e9, wall_ns / 1e9, runs, ms(p50_ns), ms(max_ns), pct(full_ns / sum_ns))
        || CASE
            WHEN asked > 0 THEN format('gc.collect() asked for {}, {} of the time', asked, pct(asked_ns / sum_ns))
            ELSE 'all of them automatic'
        END AS evidence, -- what it rests on
    CASE
        WHEN 2 * asked_ns >= sum_ns
            THEN 'remove gc.collect() from what is done for each request or batch, or call it where nothing waits'
        ELSE 'gc.freeze() after start-up, so that what stays is not looked through each time; then a larger '
            || 'gc.set_threshold(), or gc.disable() with gc.collect() where nothing waits'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM events WHERE kind = ''gc'' ORDER BY dur_ns DESC LIMIT 10"'
        AS next_command -- to see more
FROM runs
CROSS JOIN thresholds
WHERE life_ns >= min_ns AND tenths >= min_tenths AND sum_ns >= min_share * wall_ns
