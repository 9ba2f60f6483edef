-- Stacks in which the user's own code asks a server, by a library for clients, and those of servers.
--
-- needs: _stack_frames
CREATE TABLE _request_stacks AS
WITH
    frames AS (
        SELECT
            id,
            frame,
            own,
            CASE module
                WHEN 'python' THEN regexp_matches(
                    file, '/(http/client|urllib/request|xmlrpc/client|ftplib|imaplib|poplib|smtplib)\.py$'
                )
                WHEN 'fsspec' THEN file LIKE '%/asyn.py'
                WHEN 'grpc' THEN file LIKE '%/\_channel.py' ESCAPE '\'
                -- What these wait for may be work that is not there.
                WHEN 'redis' THEN NOT regexp_matches(
                    function, '(^|\.)(blocking_\w+|get_message|listen|b?[lrz]\w*pop\w*|xread\w*)$'
                )
                ELSE module IN (
                    'MySQLdb', 'anthropic', 'boto3', 'botocore', 'cassandra', 'clickhouse_connect', 'clickhouse_driver',
                    'elasticsearch', 'elastic_transport', 'httpcore', 'httpx', 'minio', 'mysql', 'openai',
                    'opensearchpy', 'paramiko', 'psycopg', 'pymongo', 'pymysql', 'requests', 'snowflake', 'urllib3'
                )
            END AS asks,
            CASE module
                WHEN 'python' THEN regexp_matches(file, '/(socketserver|http/server|wsgiref/\w+)\.py$')
                WHEN 'aiohttp' THEN regexp_matches(file, '/web\w*\.py$')
                WHEN 'grpc' THEN file LIKE '%/\_server.py' ESCAPE '\'
                ELSE module IN (
                    'bottle', 'celery', 'cheroot', 'django', 'falcon', 'fastapi', 'flask', 'gunicorn', 'hypercorn',
                    'ray', 'rq', 'sanic', 'starlette', 'tornado', 'uvicorn', 'vllm', 'waitress', 'werkzeug'
                )
            END AS serves
        FROM _stack_frames
        WHERE NOT native
    )
SELECT
    id, -- number of the stack
    coalesce(
        max(frame) FILTER (own) > min(frame) FILTER (asks) AND bool_or(serves) IS NOT TRUE,
        FALSE
    ) AS asks, -- whether a program asks a server there, and serves none itself
    bool_or(serves) IS TRUE AS serves -- whether it is in a server
FROM frames
GROUP BY id
HAVING bool_or(asks OR serves);

-- A program asks a server for one thing after the other. It waits for each reply before it asks again.
--
-- Of processes without steps: stacks of the threads that compute most, where their own code calls a library for
-- clients of HTTP, of object stores, of databases or of gRPC, and waits there. In all processes of the recording
-- together, few such waits are under way at once. What can be saved at most is all that these threads do in such calls,
-- waiting and on a CPU, as if all of it went on beside the rest. Waits below the recorder's threshold for stacks are
-- not in it, nor are clients that have no Python of their own (psycopg2).
-- Does not apply to servers, which wait for others while they answer, to clients whose waits are for work, as of
-- queues, nor to training, whose waits other findings count (too_few_workers, blocked_on_process). Where a server is
-- in the same recording, the program may be there to measure it: severity is medium at most, and low where
-- servers compute for most of the time that it waits, as then they have no time to answer several at once.
--
-- needs: stack_events, _request_stacks, _working_threads
-- severity: high from 25 % of the time that these threads work, else medium; less beside a server
-- hint: `ss -tp` names the servers that a running process is connected to
-- lines: the time of requests WHERE thread = 'process' AND id IN (SELECT id FROM _request_stacks WHERE asks)
WITH
    thresholds AS (
        SELECT
            0.15 AS min_share, -- of the time that its threads work, waiting for replies
            20 AS min_waits, -- for replies
            0.05 AS min_rest, -- of that time, that is left without such calls: with less, a bound says nothing
            0.5 AS busy_share, -- of the waits, in which servers of the recording compute, so that they are the limit
            1.5 AS most_at_once -- such waits of all processes at once, on average, from the first to the last
    ),
    asked AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.start_ns,
            events.end_ns,
            events.ns,
            events.kind <> 'sample' AS waits
        FROM stack_events AS events
        JOIN _request_stacks AS stacks ON stacks.id = events.id AND stacks.asks
        WHERE events.ns > 0
    ),
    crowds AS (
        SELECT
            recording,
            min(start_ns) AS start_ns,
            max(end_ns) AS end_ns,
            sum(ns) / (max(end_ns) - min(start_ns)) AS at_once
        FROM asked
        WHERE waits
        GROUP BY recording
    ),
    serving AS (
        SELECT work.recording, sum(work.ns) FILTER (work.kind = 'sample') AS work_ns
        FROM stack_events AS work
        JOIN crowds
            ON crowds.recording = work.recording
            AND crowds.start_ns <= work.middle_ns
            AND crowds.end_ns > work.middle_ns
        SEMI JOIN (
            SELECT events.recording, events.pid
            FROM stack_events AS events
            JOIN _request_stacks AS stacks ON stacks.id = events.id AND stacks.serves
        ) AS servers ON servers.recording = work.recording AND servers.pid = work.pid
        GROUP BY work.recording
    ),
    sums AS (
        SELECT
            asked.recording,
            asked.pid,
            threads.wall_ns,
            count_if(asked.waits) AS waits,
            coalesce(sum(asked.ns) FILTER (asked.waits), 0) AS wait_ns,
            sum(asked.ns) AS call_ns
        FROM asked
        JOIN _working_threads AS threads
            ON threads.recording = asked.recording
            AND threads.pid = asked.pid
            AND threads.tid = asked.tid
            AND threads.work_ns <= asked.start_ns
            AND threads.until_ns >= asked.end_ns
        GROUP BY asked.recording, asked.pid, threads.wall_ns
    ),
    costs AS (
        SELECT
            sums.*,
            wait_ns / wall_ns AS share,
            round(wall_ns / 1e9, 2) AS wall_s,
            round(call_ns / 1e9, 2) AS call_s,
            CASE
                WHEN wall_s - call_s >= min_rest * wall_s THEN round(wall_s / (wall_s - call_s), 2)
            END AS max_speedup
        FROM sums
        CROSS JOIN thresholds
    )
SELECT
    costs.recording, -- recording
    pid, -- process
    round(100 * share, 1) AS value, -- percent of the time that its threads work
    '% of its time waiting for replies' AS unit, -- unit of value
    CASE
        WHEN serving.recording IS NULL THEN severity_of(share)
        WHEN serving.work_ns >= busy_share * wait_ns THEN 'low'
        ELSE 'medium'
    END AS severity, -- high, medium or low
    max_speedup, -- of the time that it works, if all requests went on beside the rest; NULL if that is next to nothing
    format('{:.2f} s of {:.2f} s in {:,} waits for replies, {} each, {:.1f} at once; ',
        wait_ns / 1e9, wall_s, waits, ms(wait_ns / waits), at_once)
        || coalesce(
            format('with what it does on a CPU, such calls take {:.2f} s: {:.2f} / ({:.2f} - {:.2f}) = {:.2f}x; ',
                call_s, wall_s, wall_s, call_s, max_speedup),
            'it does next to nothing else; '
        ) AS evidence, -- what it rests on
    'ask for several at once: concurrent.futures.ThreadPoolExecutor, or asyncio with a client for it; or for many '
        || 'things in one request; keep on this machine what is asked for again' AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
JOIN crowds ON crowds.recording = costs.recording
LEFT JOIN serving ON serving.recording = costs.recording
WHERE waits >= min_waits AND share >= min_share AND at_once <= most_at_once
