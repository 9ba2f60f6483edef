-- The innermost call that each thread had not returned from when it was last seen.
--
-- A call without an end may also be one whose end was lost. Then the thread does something after it, and it is no row.
--
-- needs: _rare_events
-- digest: kept
CREATE TABLE _open_calls AS
WITH
    unended AS (
        SELECT recording, pid, tid, kind, name, ts_ns
        FROM _rare_events
        WHERE dur_ns IS NULL
            AND kind IN (
                'region', 'backward', 'dist_wait', 'cuda_sync', 'cuda_copy', 'cuda_graph', 'nccl', 'nccl_comm',
                'gpu_alloc', 'gpu_free'
            )
    ),
    innermost AS (
        SELECT
            recording,
            pid,
            tid,
            arg_max(kind, ts_ns) AS kind,
            arg_max(name, ts_ns) AS name,
            max(ts_ns) AS since_ns
        FROM unended
        GROUP BY ALL
    ),
    went_on AS (
        SELECT DISTINCT innermost.recording, innermost.pid, innermost.tid
        FROM innermost
        JOIN _rare_events AS later
            ON later.recording = innermost.recording
            AND later.pid = innermost.pid
            AND later.tid = innermost.tid
        WHERE later.ts_ns > innermost.since_ns
    )
SELECT
    innermost.recording, -- recording
    innermost.pid, -- process
    innermost.tid, -- thread
    innermost.kind, -- kind of the call
    innermost.name, -- function or region
    innermost.since_ns -- [ns] when it was called
FROM innermost
LEFT JOIN went_on
    ON went_on.recording = innermost.recording
    AND went_on.pid = innermost.pid
    AND went_on.tid = innermost.tid
WHERE went_on.pid IS NULL;

-- The last call that each process was seen to make, of those that a step has few of.
--
-- needs: _rare_events
-- digest: kept
CREATE TABLE _last_calls AS
SELECT
    recording, -- recording
    pid, -- process
    arg_max(name, ts_ns) AS name, -- function or region
    max(ts_ns) AS at_ns -- [ns] when, by the clock of its machine
FROM _rare_events
GROUP BY recording, pid;

-- Ranks as they joined communicators.
--
-- needs: _nccl_calls
-- digest: kept
CREATE VIEW _joined_ranks AS
SELECT
    comm_id, -- communicator, the same in all ranks
    rank, -- its rank in it
    nranks, -- ranks of it
    recording, -- recording
    pid -- process
FROM _nccl_calls
WHERE kind = 'nccl_comm' AND comm_id IS NOT NULL AND rank IS NOT NULL;

-- How long each process may do nothing: then it stands still.
--
-- needs: _progress
CREATE VIEW _patience AS
WITH
    thresholds AS (
        SELECT
            1000000000 AS min_ns, -- [ns] shortest wait
            10 AS min_steps, -- median steps that it lasts
            30000000000 AS without_steps_ns -- [ns] where no step was seen
    )
SELECT
    progress.recording, -- recording
    progress.pid, -- process
    progress.steps, -- steps
    progress.watched_ns, -- [ns] until when it could have gone on
    progress.ended_ns, -- [ns] end of the recording
    progress.exited_ns, -- [ns] when it exited, if it did
    progress.exit_status, -- its exit code
    progress.step_ns, -- [ns] median step
    progress.last_step_ns, -- [ns] end of its last step
    CASE
        WHEN progress.steps < 2 THEN thresholds.without_steps_ns
        ELSE greatest(thresholds.min_ns, thresholds.min_steps * progress.step_ns, progress.longest_ns)
    END AS patience_ns -- [ns] how long it may do nothing
FROM _progress AS progress
CROSS JOIN thresholds;

-- Communicators with lost calls: the numbers of collectives do not match there.
--
-- needs: _collective_calls, losses
CREATE VIEW _lossy_communicators AS
SELECT
    calls.comm_id -- communicator
FROM _collective_calls AS calls
JOIN losses ON losses.recording = calls.recording
WHERE losses.kind = 'nccl'
GROUP BY ALL;

-- The first collective of each communicator that ranks did not come to, although they had time.
--
-- needs: _joined_ranks, _collective_calls, _lossy_communicators, _arrivals, _patience
CREATE VIEW _missing_ranks AS
WITH
    joined AS (
        SELECT comm_id, rank, nranks, recording, pid, -1 AS number, NULL AS ts_ns
        FROM _joined_ranks
        UNION ALL
        SELECT comm_id, rank, nranks, recording, pid, number, ts_ns
        FROM _collective_calls
    ),
    members AS (
        SELECT comm_id, rank, recording, pid, max(nranks) AS nranks, max(number) AS number
        FROM joined
        WHERE nranks > 1 AND comm_id NOT IN (SELECT comm_id FROM _lossy_communicators)
        GROUP BY ALL
    ),
    first_missed AS (
        SELECT comm_id, min(number) + 1 AS number
        FROM members
        GROUP BY ALL
        HAVING max(number) > min(number)
    ),
    gaps AS (
        SELECT comm_id, max(gap_ns) AS gap_ns
        FROM (
            SELECT comm_id, ts_ns - lag(ts_ns) OVER (PARTITION BY comm_id, recording, pid ORDER BY number) AS gap_ns
            FROM _collective_calls
            WHERE comm_id IN (SELECT comm_id FROM first_missed)
        ) AS between
        GROUP BY ALL
    ),
    shifts AS (
        SELECT recording, arg_max(at_ns - ts_ns, ts_ns) AS shift_ns
        FROM _arrivals
        WHERE NOT by_waits
        GROUP BY ALL
    ),
    roll_call AS (
        SELECT
            first_missed.comm_id,
            first_missed.number,
            members.rank,
            members.nranks,
            members.recording,
            members.pid,
            members.number >= first_missed.number AS entered,
            patience.watched_ns + shifts.shift_ns AS watched_ns,
            patience.ended_ns + shifts.shift_ns AS ended_ns,
            patience.patience_ns
        FROM first_missed
        JOIN members ON members.comm_id = first_missed.comm_id
        JOIN _patience AS patience ON patience.recording = members.recording AND patience.pid = members.pid
        JOIN shifts ON shifts.recording = members.recording
    ),
    called AS (
        SELECT arrivals.comm_id, arrivals.number, min(arrivals.at_ns) AS since_ns, min(arrivals.name) AS name
        FROM _arrivals AS arrivals
        JOIN first_missed ON first_missed.comm_id = arrivals.comm_id AND first_missed.number = arrivals.number
        GROUP BY ALL
    ),
    absences AS (
        SELECT
            roll_call.comm_id,
            roll_call.number,
            any_value(called.name) AS name,
            any_value(called.since_ns) AS since_ns,
            max(roll_call.nranks) AS nranks,
            listed(list(rank ORDER BY rank) FILTER (entered)) AS entered,
            listed(list(rank ORDER BY rank) FILTER (NOT entered)) AS missing,
            arg_min(roll_call.recording, CASE WHEN NOT entered THEN rank END) AS recording,
            arg_min(roll_call.pid, CASE WHEN NOT entered THEN rank END) AS pid,
            least(
                max(CASE WHEN entered THEN roll_call.watched_ns END),
                min(CASE WHEN NOT entered THEN roll_call.ended_ns END)
            ) - any_value(called.since_ns) AS waited_ns,
            greatest(max(patience_ns), coalesce(any_value(gaps.gap_ns), 0)) AS patience_ns
        FROM roll_call
        JOIN called ON called.comm_id = roll_call.comm_id
        LEFT JOIN gaps ON gaps.comm_id = roll_call.comm_id
        GROUP BY roll_call.comm_id, roll_call.number
    )
SELECT
    recording, -- recording of the rank that is missing
    pid, -- its process; the first of several
    comm_id, -- communicator
    number, -- number of the collective on it, from 0
    name, -- NCCL function
    nranks, -- ranks of the communicator
    entered, -- ranks that called it
    missing, -- ranks that did not
    since_ns, -- [ns] when the first rank called it
    waited_ns -- [ns] from then to the end of what was recorded
FROM absences
WHERE waited_ns > patience_ns;

-- The first collective of each communicator on which its ranks do not agree.
--
-- needs: _collective_calls, _lossy_communicators, _arrivals
CREATE VIEW _mismatched_collectives AS
WITH
    disagreements AS (
        SELECT comm_id, number
        FROM _collective_calls
        WHERE comm_id NOT IN (SELECT comm_id FROM _lossy_communicators)
        GROUP BY comm_id, number
        HAVING min(hash(name, op, dtype, count, peer)) <> max(hash(name, op, dtype, count, peer))
    ),
    first_disagreement AS (
        SELECT comm_id, min(number) AS number
        FROM disagreements
        GROUP BY ALL
    ),
    variants AS (
        SELECT
            calls.comm_id,
            calls.number,
            format('{}{}{}{}', calls.name, coalesce(' ' || calls.op, ''),
                coalesce(format(' of {} ', calls.count) || coalesce(calls.dtype, 'elements'), ''),
                coalesce(format(', root {}', calls.peer), '')) AS call,
            listed(list(calls.rank ORDER BY calls.rank)) AS ranks,
            count(*) AS callers,
            arg_min(calls.recording, calls.rank) AS recording,
            arg_min(calls.pid, calls.rank) AS pid,
            max(calls.nranks) AS nranks
        FROM _collective_calls AS calls
        JOIN first_disagreement AS odd ON odd.comm_id = calls.comm_id AND odd.number = calls.number
        GROUP BY ALL
    ),
    disputes AS (
        SELECT
            comm_id,
            number,
            string_agg(format('rank {}: {}', ranks, call), '; ' ORDER BY callers DESC, ranks) AS calls,
            arg_min(recording, callers) AS recording,
            arg_min(pid, callers) AS pid,
            arg_min(ranks, callers) AS ranks,
            max(nranks) AS nranks
        FROM variants
        GROUP BY ALL
    )
SELECT
    disputes.recording, -- recording of the rank that differs
    disputes.pid, -- its process
    disputes.comm_id, -- communicator
    disputes.number, -- number of the collective on it, from 0
    disputes.calls, -- the calls of each rank
    disputes.ranks, -- ranks that differ
    disputes.nranks, -- ranks of the communicator
    min(arrivals.at_ns) AS since_ns -- [ns] when the first rank called it
FROM disputes
JOIN _arrivals AS arrivals
    ON arrivals.comm_id = disputes.comm_id
    AND arrivals.number = disputes.number
GROUP BY ALL;

-- The first call of each process that never returned, although it had time.
--
-- needs: events, _open_calls, _patience
-- digest: kept
CREATE VIEW _stuck_calls AS
WITH
    execs AS (
        SELECT recording, pid, max(ts_ns) AS ts_ns
        FROM events
        WHERE kind = 'process' AND name = 'exec'
        GROUP BY ALL
    ),
    stuck AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            calls.kind,
            calls.name,
            calls.since_ns,
            patience.watched_ns - calls.since_ns AS waited_ns,
            row_number() OVER (PARTITION BY calls.recording, calls.pid ORDER BY calls.since_ns) AS place
        FROM _open_calls AS calls
        JOIN _patience AS patience ON patience.recording = calls.recording AND patience.pid = calls.pid
        LEFT JOIN execs ON execs.recording = calls.recording AND execs.pid = calls.pid
        WHERE coalesce(execs.ts_ns < calls.since_ns, TRUE)
            AND (
                patience.steps >= 2
                OR calls.kind <> 'region'
                OR regexp_matches(calls.name, '^(enumerate\(DataLoader\)|Optimizer\.)')
            )
            AND calls.kind IN ('region', 'backward', 'dist_wait', 'cuda_sync', 'cuda_copy', 'nccl', 'nccl_comm')
            AND patience.watched_ns - calls.since_ns > patience.patience_ns
            AND patience.watched_ns - coalesce(patience.last_step_ns, calls.since_ns) > patience.patience_ns
    )
SELECT
    recording, -- recording
    pid, -- process
    name, -- function or region
    since_ns, -- [ns] when it was called
    waited_ns -- [ns] from then to the end of what was recorded
FROM stuck
WHERE place = 1;

-- Where a job stands still: collectives that a rank never came to or called otherwise, calls that never return.
--
-- A rank is missing from a collective that other ranks have called when all that could still be seen of it is long
-- past: much longer than a step, and than any wait between two collectives before. Ranks that call different functions,
-- sizes or roots for the same number of a communicator are the usual reason. A call counts that was never seen to
-- return although its process lived on for much longer than a step takes, and started no other program. A region of the
-- program's own counts in a training only: a server may wait for requests in one. A short recording, or one that ends
-- with the job, has no hang; communicators with lost calls are left out, because their numbers do not match.
--
-- needs: _missing_ranks, _mismatched_collectives, _stuck_calls, _open_calls, _last_calls, _patience
CREATE TABLE hangs AS
WITH
    all_hangs AS (
        SELECT
            'missing rank' AS what,
            recording,
            pid,
            comm_id,
            number,
            name,
            nranks,
            entered,
            missing,
            since_ns,
            waited_ns
        FROM _missing_ranks
        UNION ALL
        SELECT 'mismatch', recording, pid, comm_id, number, calls, nranks, NULL, ranks, since_ns, NULL
        FROM _mismatched_collectives
        UNION ALL
        SELECT 'open call', recording, pid, NULL, NULL, name, NULL, NULL, NULL, since_ns, waited_ns
        FROM _stuck_calls
    ),
    doing AS (
        SELECT
            recording,
            pid,
            arg_max(name, since_ns) AS name,
            arg_max(kind, since_ns) IN ('cuda_sync', 'cuda_copy', 'dist_wait', 'nccl') AS waits
        FROM _open_calls
        GROUP BY ALL
    )
SELECT
    all_hangs.what, -- missing rank, mismatch or open call
    all_hangs.recording, -- recording of the rank that is missing, that differs, or whose call is open
    all_hangs.pid, -- its process; the first of several
    all_hangs.comm_id, -- communicator, where the hang is one of a collective
    all_hangs.number, -- number of the collective on it, from 0
    all_hangs.name, -- NCCL function; the calls of each rank where they differ; the call that is open
    all_hangs.nranks, -- ranks of the communicator
    all_hangs.entered, -- ranks that called it
    all_hangs.missing, -- ranks that did not, or that called something else
    all_hangs.since_ns, -- [ns] when the first rank called it, or when the open call began
    all_hangs.waited_ns, -- [ns] from then to the end of what was recorded; NULL where the job went on
    patience.step_ns, -- [ns] the process's median step, for comparison
    latest.name AS last_name, -- the last call that the process was seen to make
    latest.at_ns AS last_ns, -- [ns] when, by the clock of its machine
    doing.name AS open_call, -- the call that it had not returned from
    coalesce(doing.waits, FALSE) AS waits, -- whether that waits for the GPU or for other ranks
    patience.exited_ns, -- [ns] when it exited, if it did
    patience.exit_status -- its exit code
FROM all_hangs
LEFT JOIN _patience AS patience ON patience.recording = all_hangs.recording AND patience.pid = all_hangs.pid
LEFT JOIN _last_calls AS latest ON latest.recording = all_hangs.recording AND latest.pid = all_hangs.pid
LEFT JOIN doing ON doing.recording = all_hangs.recording AND doing.pid = all_hangs.pid
ORDER BY all_hangs.since_ns, all_hangs.what, all_hangs.recording, all_hangs.pid
