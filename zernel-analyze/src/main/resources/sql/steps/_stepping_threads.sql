-- The thread in which steps are looked for, of each GPU process without regions that tell steps.
--
-- It is the one that launches in the most parts of the time: autotuning and compiling launch much in little of it. Of
-- several that launch about as long, it is the one that runs backward passes, then the main thread.
--
-- needs: _launch_parts, _thread_kinds
CREATE TABLE _stepping_threads AS
WITH
    threads AS (
        SELECT recording, pid, tid, count(*) AS parts, sum(calls) AS calls
        FROM _launch_parts
        GROUP BY ALL
    ),
    backwards AS (
        SELECT DISTINCT recording, pid, tid
        FROM _thread_kinds
        WHERE kind = 'backward'
    ),
    compared AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            threads.calls,
            backwards.tid IS NOT NULL AS runs_backward,
            bool_or(backwards.tid IS NOT NULL) OVER processes AS has_backward,
            count(*) OVER processes AS threads,
            threads.parts >= 0.9 * max(threads.parts) OVER processes AS launches_long
        FROM threads
        LEFT JOIN backwards
            ON backwards.recording = threads.recording
            AND backwards.pid = threads.pid
            AND backwards.tid = threads.tid
        WINDOW processes AS (PARTITION BY threads.recording, threads.pid)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    has_backward, -- whether its process runs backward passes
    threads -- threads of its process that launch
FROM compared
QUALIFY row_number() OVER (
    PARTITION BY recording, pid
    ORDER BY launches_long DESC, runs_backward DESC, tid = pid DESC, calls DESC, tid
) = 1
