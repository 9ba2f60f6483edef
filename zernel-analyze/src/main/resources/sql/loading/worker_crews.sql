-- What data workers did in evaluation loops of the process that forked them, within their windows.
--
-- A span off the CPU that is only partly in a loop counts by that part, its time without a CPU too.
--
-- needs: workers, _evaluations, off_cpu_spans, events
CREATE TABLE _worker_evaluations AS
WITH
    loops AS (
        SELECT
            workers.recording,
            workers.pid,
            greatest(evaluations.start_ns, workers.start_ns) AS start_ns,
            least(evaluations.end_ns, workers.start_ns + workers.window_ns) AS end_ns
        FROM workers
        JOIN _evaluations AS evaluations
            ON evaluations.recording = workers.recording
            AND evaluations.pid = workers.ppid
            AND evaluations.start_ns < workers.start_ns + workers.window_ns
            AND evaluations.end_ns > workers.start_ns
    ),
    parts AS (
        SELECT recording, pid, 'window' AS state, end_ns - start_ns AS dur_ns, 0 AS runq_ns, 0 AS bytes
        FROM loops
        UNION ALL
        SELECT
            loops.recording,
            loops.pid,
            'read' AS state,
            least(events.ts_ns + events.dur_ns, loops.end_ns) - greatest(events.ts_ns, loops.start_ns) AS dur_ns,
            0 AS runq_ns,
            events.bytes
        FROM events
        JOIN loops
            ON loops.recording = events.recording
            AND loops.pid = events.pid
            AND loops.pid = events.tid
        WHERE events.kind = 'io'
            AND is_read(events.name)
            AND events.dur_ns IS NOT NULL
            AND NOT coalesce(events.path LIKE 'pipe:%' OR events.path LIKE 'socket:%', FALSE)
            AND events.ts_ns + events.dur_ns > loops.start_ns
            AND events.ts_ns < loops.end_ns
        UNION ALL
        SELECT
            loops.recording,
            loops.pid,
            spans.state,
            least(spans.start_ns + spans.dur_ns, loops.end_ns) - greatest(spans.start_ns, loops.start_ns) AS part_ns,
            part_ns * least(spans.runq_ns / nullif(spans.dur_ns, 0), 1) AS runq_ns,
            0 AS bytes
        FROM off_cpu_spans AS spans
        JOIN loops
            ON loops.recording = spans.recording
            AND loops.pid = spans.pid
            AND loops.pid = spans.tid
        WHERE spans.start_ns + spans.dur_ns > loops.start_ns
            AND spans.start_ns < loops.end_ns
    )
SELECT
    recording, -- recording
    pid, -- worker process
    sum(CASE WHEN state = 'window' THEN dur_ns ELSE 0 END) AS window_ns, -- [ns] in evaluation loops
    sum(CASE WHEN state = 'pipe' THEN dur_ns - runq_ns ELSE 0 END) AS idle_ns, -- [ns] waiting for an index
    sum(CASE WHEN state NOT IN ('window', 'read', 'pipe', 'storage', 'runnable') THEN dur_ns - runq_ns ELSE 0 END)
        AS blocked_ns, -- [ns] blocked on something else than an index and files
    sum(CASE WHEN state = 'read' THEN dur_ns ELSE 0 END) AS io_ns, -- [ns] in read calls of files
    sum(runq_ns) AS runq_ns, -- [ns] ready to run, without a CPU
    sum(bytes) AS read_bytes -- [bytes] of these calls
FROM parts
GROUP BY recording, pid;

-- DataLoader workers of each training process together: how many at once, and what they did while it trained.
--
-- A loader without persistent workers starts new ones for every pass, so there can be more processes than workers.
-- The number at once is the median, over the workers, of how many were alive in the middle of the worker's life.
-- Evaluation loops are left out. So are workers that were forked together, those of one loader, if they load next to
-- nothing in the time that is left while others load: such as those that stay for the next evaluation. Reads that
-- hardly block copy files in the page cache, which is work on a CPU.
--
-- needs: workers, data_wait, _worker_evaluations
-- digest: kept
CREATE TABLE worker_crews AS
WITH
    constants AS (
        SELECT 0.1 AS least_share -- of the loading of others in the same time, below which workers do not count
    ),
    crews AS (
        SELECT workers.*, waits.start_ns AS first_wait_ns
        FROM workers
        ASOF LEFT JOIN data_wait AS waits
            ON waits.recording = workers.recording
            AND waits.pid = workers.ppid
            AND waits.start_ns >= workers.forked_ns
        WHERE workers.ppid IS NOT NULL
    ),
    times AS (
        SELECT
            crews.recording,
            crews.pid,
            crews.ppid,
            crews.first_wait_ns,
            crews.start_ns,
            crews.start_ns + crews.window_ns AS end_ns,
            greatest(crews.window_ns - coalesce(evaluations.window_ns, 0), 0) AS window_ns,
            greatest(crews.idle_ns - coalesce(evaluations.idle_ns, 0), 0) AS idle_ns,
            greatest(crews.blocked_ns - coalesce(evaluations.blocked_ns, 0), 0) AS blocked_ns,
            greatest(crews.io_ns - coalesce(evaluations.io_ns, 0), 0) AS io_ns,
            crews.io_ns AS all_io_ns,
            crews.disk_ns,
            greatest(crews.runq_ns - coalesce(evaluations.runq_ns, 0), 0) AS runq_ns,
            greatest(crews.read_bytes - coalesce(evaluations.read_bytes, 0), 0) AS read_bytes
        FROM crews
        LEFT JOIN _worker_evaluations AS evaluations
            ON evaluations.recording = crews.recording
            AND evaluations.pid = crews.pid
    ),
    shares AS (
        SELECT
            times.*,
            count(*) OVER (PARTITION BY recording, ppid) AS processes,
            1 - sum(idle_ns) OVER crew / nullif(sum(window_ns) OVER crew, 0) AS load_share
        FROM times
        WINDOW crew AS (PARTITION BY recording, ppid, first_wait_ns)
    ),
    loading AS (
        SELECT shares.*
        FROM shares
        CROSS JOIN constants
        QUALIFY (
            coalesce(load_share, 0)
                >= constants.least_share * max(load_share) OVER (PARTITION BY recording, ppid)
        ) IS NOT FALSE
    ),
    siblings AS (
        SELECT loading.recording, loading.pid, count(*) AS alive
        FROM loading
        JOIN loading AS others
            ON others.recording = loading.recording
            AND others.ppid = loading.ppid
            AND others.start_ns <= loading.start_ns + (loading.end_ns - loading.start_ns) // 2
            AND others.end_ns > loading.start_ns + (loading.end_ns - loading.start_ns) // 2
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            loading.recording,
            loading.ppid,
            any_value(loading.processes) AS processes,
            CAST(quantile_disc(siblings.alive, 0.5) AS BIGINT) AS at_once,
            sum(loading.window_ns) AS window_ns,
            nullif(sum(loading.window_ns), 0) AS all_ns,
            sum(loading.idle_ns) AS idle_ns,
            sum(loading.blocked_ns) AS blocked_ns,
            sum(loading.io_ns) AS io_ns,
            coalesce(_copies(sum(loading.disk_ns), sum(loading.all_io_ns)), FALSE) AS copies,
            sum(loading.runq_ns) AS runq_ns,
            sum(greatest(window_ns - idle_ns - blocked_ns - io_ns - runq_ns, 0)) AS cpu_ns,
            sum(loading.read_bytes) AS read_bytes
        FROM loading
        JOIN siblings ON siblings.recording = loading.recording AND siblings.pid = loading.pid
        GROUP BY loading.recording, loading.ppid
    )
SELECT
    recording, -- recording
    ppid AS pid, -- process that trains
    processes, -- worker processes in all
    at_once, -- workers alive at once
    CAST(window_ns AS BIGINT) AS window_ns, -- [ns] their lives together
    idle_ns / all_ns AS idle_share, -- share waiting for an index, 0 to 1; NULL, as all shares, where they only evaluate
    blocked_ns / all_ns AS blocked_share, -- share blocked on something else but files
    CASE WHEN copies THEN 0 ELSE io_ns END / all_ns AS io_share, -- share in read calls of files
    (cpu_ns + CASE WHEN copies THEN io_ns ELSE 0 END) / all_ns AS cpu_share, -- share of the rest: on a CPU, at most
    CASE WHEN copies THEN io_ns ELSE 0 END / all_ns AS copied_share, -- share of that, in reads of what is in memory
    runq_ns / all_ns AS runq_share, -- share ready to run, without a CPU, 0 to 1
    CAST(read_bytes AS BIGINT) AS read_bytes -- [bytes] read
FROM sums
ORDER BY recording, ppid
