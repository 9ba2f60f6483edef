-- Waits of ranks for collectives that rested on one rank, each with that rank and its call.
--
-- With NCCL a rank waits for collectives when it waits for the GPU after its calls: what that rests on is the rank that
-- came last of all to one of them. Without NCCL all waits of a step in torch.distributed count as one. The rank that
-- came last is among those that wait. Where ranks come almost together, the wait rests on none. A wait may be for a
-- collective of the step before: then it holds the rank up until the last one came, and the path of the step begins
-- there.
--
-- needs: _collective_calls, collective_arrivals, _wait_arrivals, _job_steps
CREATE TABLE _hand_overs AS
WITH
    constants AS (
        SELECT 0.01 AS min_held -- of a step that a rank comes before the last one
    ),
    -- Collectives, in the step of the rank that came last.
    placed AS (
        SELECT
            arrivals.comm_id,
            arrivals.number,
            arrivals.name,
            arrivals.late_rank IS NOT NULL AS known,
            arrivals.late_recording,
            arrivals.late_pid,
            arrivals.late_ns,
            arrivals.late_ns + steps.shift_ns AS late_at_ns,
            arrivals.behind_ns,
            steps.job,
            steps.number AS step,
            arrivals.number - min(arrivals.number) OVER (
                PARTITION BY arrivals.comm_id, steps.job, steps.number
            ) + 1 AS place
        FROM collective_arrivals AS arrivals
        ASOF JOIN _job_steps AS steps
            ON steps.recording = arrivals.late_recording
            AND steps.pid = arrivals.late_pid
            AND steps.start_ns <= arrivals.late_ns
        WHERE arrivals.by_all AND arrivals.skew_ns IS NOT NULL AND arrivals.late_ns < steps.end_ns
    ),
    latest AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.done_ns,
            arg_max(
                {'comm_id': calls.comm_id, 'number': calls.number, 'ts_ns': calls.ts_ns},
                placed.late_at_ns
            ) AS call
        FROM _collective_calls AS calls
        JOIN placed ON placed.comm_id = calls.comm_id AND placed.number = calls.number
        WHERE calls.done_ns IS NOT NULL
        GROUP BY calls.recording, calls.pid, calls.done_ns
    ),
    waits AS (
        SELECT
            recording,
            pid,
            call.comm_id,
            call.number,
            call.ts_ns,
            done_ns AS in_step_ns,
            done_ns,
            NULL AS held_ns,
            NULL AS exchange_ns
        FROM latest
        UNION ALL
        SELECT recording, pid, comm_id, number, ts_ns, ts_ns, ts_ns + wait_ns, late_ns, wait_ns - late_ns
        FROM _wait_arrivals
    ),
    in_steps AS (
        SELECT
            waits.*,
            steps.job,
            steps.number AS step,
            steps.start_ns,
            steps.end_ns,
            steps.shift_ns
        FROM waits
        ASOF JOIN _job_steps AS steps
            ON steps.recording = waits.recording
            AND steps.pid = waits.pid
            AND steps.start_ns < waits.in_step_ns
        WHERE waits.in_step_ns <= steps.end_ns
    )
SELECT
    CASE
        WHEN waits.step = placed.step
            THEN row_number() OVER (ORDER BY waits.job, waits.step, waits.recording, waits.pid, waits.done_ns)
    END AS hand_over, -- number of the wait; NULL of one for the step before
    waits.job, -- number of the job
    waits.step, -- number of the step, the same in all ranks
    waits.recording, -- recording of the rank that waits
    waits.pid, -- its process
    CASE
        WHEN waits.step = placed.step THEN least(waits.done_ns, waits.end_ns)
        ELSE greatest(placed.late_at_ns - waits.shift_ns, waits.start_ns)
    END AS on_ns, -- [ns] from when on it is not held up any more, by its own clock
    waits.comm_id, -- communicator
    waits.number, -- number of the collective on it
    placed.name, -- NCCL function, or torch.distributed
    placed.place, -- place of the collective among those of the step on its communicator, from 1
    placed.late_recording, -- recording of the rank that came last
    placed.late_pid, -- its process
    placed.late_ns, -- [ns] when that one called, by its own clock
    placed.late_at_ns AS start_ns, -- [ns] the same by the clock of the first machine
    placed.late_at_ns + coalesce(waits.exchange_ns, waits.done_ns + waits.shift_ns - placed.late_at_ns)
        AS end_ns -- [ns] when the collective was done, by the same clock
FROM in_steps AS waits
JOIN placed ON placed.comm_id = waits.comm_id AND placed.number = waits.number
CROSS JOIN constants
WHERE placed.known
    AND placed.job = waits.job
    AND waits.step - placed.step IN (0, 1)
    AND (waits.exchange_ns IS NOT NULL OR waits.done_ns + waits.shift_ns > placed.late_at_ns)
    AND constants.min_held * (waits.end_ns - waits.start_ns) <= CASE
        WHEN waits.recording = placed.late_recording AND waits.pid = placed.late_pid THEN placed.behind_ns
        ELSE coalesce(waits.held_ns, placed.late_at_ns - waits.ts_ns - waits.shift_ns)
    END;

-- Stretches of one rank's time that the end of a step rested on, found by walking back from it.
--
-- A stretch ends with the step of the rank that ends it last, or when a rank came that others waited for; it begins
-- when it had last waited for collectives itself, or with the step. Jobs whose ranks cannot be compared have none.
--
-- needs: _job_steps, collective_arrivals, _hand_overs
CREATE TABLE _stretches AS
WITH RECURSIVE
    compared AS (
        SELECT DISTINCT steps.job
        FROM _job_steps AS steps
        SEMI JOIN collective_arrivals AS arrivals
            ON arrivals.late_recording = steps.recording
            AND arrivals.late_pid = steps.pid
            AND arrivals.by_all
            AND arrivals.skew_ns IS NOT NULL
    ),
    enders AS (
        SELECT
            steps.job,
            steps.number AS step,
            arg_max(
                {'recording': steps.recording, 'pid': steps.pid, 'end_ns': steps.end_ns},
                (steps.end_ns + steps.shift_ns, -steps.recording, -steps.pid)
            ) AS latest,
            max(steps.end_ns + steps.shift_ns, 2) AS ends_ns
        FROM _job_steps AS steps
        JOIN compared ON compared.job = steps.job
        GROUP BY steps.job, steps.number
        HAVING count(*) > 1
    ),
    tails AS (
        SELECT
            CAST(NULL AS BIGINT) AS hand_over,
            job,
            step,
            latest.recording,
            latest.pid,
            latest.end_ns AS until_ns,
            ends_ns[1] - ends_ns[2] AS behind_ns
        FROM enders
        UNION ALL
        SELECT hand_over, job, step, late_recording, late_pid, late_ns, NULL
        FROM _hand_overs
        WHERE hand_over IS NOT NULL
    ),
    stretches AS MATERIALIZED (
        SELECT tails.*, waits.on_ns, waits.hand_over AS before
        FROM tails
        ASOF LEFT JOIN _hand_overs AS waits
            ON waits.job = tails.job
            AND waits.step = tails.step
            AND waits.recording = tails.recording
            AND waits.pid = tails.pid
            AND waits.on_ns <= tails.until_ns
    ),
    walk AS (
        SELECT stretches.*, 1 AS hop
        FROM stretches
        WHERE hand_over IS NULL
        UNION ALL
        SELECT stretches.*, walk.hop + 1
        FROM walk
        JOIN stretches ON stretches.hand_over = walk.before
    )
SELECT
    walk.job, -- number of the job
    walk.step, -- number of the step, the same in all ranks
    walk.hop, -- number of the stretch, from 1 for the last one
    walk.recording, -- recording
    walk.pid, -- process
    steps.tid, -- its training thread
    steps.rank, -- its rank
    steps.known, -- whether that is known
    steps.step AS own_step, -- number of the step in this process
    steps.step_kind, -- warmup, train, evaluation, checkpoint or profiler
    steps.start_ns AS step_ns, -- [ns] when the step began, by its own clock
    steps.end_ns AS step_end_ns, -- [ns] when it ended
    steps.shift_ns, -- [ns] to add to these for the clock of the first machine
    walk.hand_over, -- number of the wait that it ends with; NULL for the end of the step
    coalesce(walk.on_ns, steps.start_ns) AS from_ns, -- [ns] when it begins
    walk.until_ns, -- [ns] when it ends
    walk.before IS NOT NULL AND walk.behind_ns < 0.01 * (steps.end_ns - steps.start_ns)
        AS together -- whether it is what all ranks do after a collective
FROM walk
JOIN _job_steps AS steps
    ON steps.job = walk.job
    AND steps.number = walk.step
    AND steps.recording = walk.recording
    AND steps.pid = walk.pid;

-- What the end of each step of a job rested on, in order: a rank's time, a collective, the next rank's.
--
-- It is found by walking back from the end of the rank that ends the step last. Where this rank waited for another one
-- in a collective, the walk goes on at that one, from the moment it came; and so on to the beginning of the step. So
-- to be faster, a step has to lose something of its path; what other ranks do meanwhile costs nothing.
--
-- Who came last is told by collective_arrivals, of collectives that all recorded ranks called; with NCCL, others wait
-- for it only where they wait for the GPU afterwards. Parts are those of phase_parts; time off the CPU in which the
-- thread waits neither for data, nor for the GPU, nor for other ranks is told apart. What comes after the last
-- collective is that of everyone where no rank ends later than the others.
--
-- needs: _stretches, _hand_overs, _pieces, _thread_numbers, _off_cpu_steps, _launching_threads, late_steps
CREATE TABLE critical_path AS
WITH
    stretches AS (
        SELECT stretches.*, causes.cause
        FROM _stretches AS stretches
        LEFT JOIN (
            SELECT recording, pid, step, arg_max(cause, lag_ns) AS cause
            FROM late_steps
            WHERE late_rank IS NOT NULL AND cause <> 'other'
            GROUP BY recording, pid, step
        ) AS causes
            ON causes.recording = stretches.recording
            AND causes.pid = stretches.pid
            AND causes.step = stretches.own_step
    ),
    spans AS (
        SELECT DISTINCT recording, pid, own_step, step_ns AS from_ns, step_end_ns AS until_ns
        FROM stretches
    ),
    points AS (
        SELECT threads.recording, threads.pid, pieces.start_ns AS at_ns, pieces.end_ns, pieces.part
        FROM _pieces AS pieces
        JOIN _thread_numbers AS threads ON threads.thread = pieces.thread
        SEMI JOIN stretches
            ON stretches.recording = threads.recording
            AND stretches.pid = threads.pid
            AND stretches.tid = threads.tid
    ),
    -- Off its CPU a thread does not work on its part. It may still wait for what another thread does, as in backward.
    away AS (
        SELECT recording, pid, step, part, start_ns, blocked_ns, dur_ns
        FROM _off_cpu_steps
        WHERE part NOT IN ('data_wait', 'worker_start', 'gpu_wait', 'collective')
            AND (part <> 'backward' OR (recording, pid) NOT IN (SELECT recording, pid FROM _launching_threads))
    ),
    pieces AS (
        SELECT recording, pid, own_step, at_ns AS start_ns, end_ns, CAST(part AS VARCHAR) AS part, NULL AS within
        FROM in_spans(points, spans)
        UNION ALL
        SELECT recording, pid, step, start_ns, start_ns + blocked_ns, 'asleep', CAST(part AS VARCHAR)
        FROM away
        WHERE blocked_ns > 0
        UNION ALL
        SELECT recording, pid, step, start_ns + blocked_ns, start_ns + dur_ns, 'cpu_wait', CAST(part AS VARCHAR)
        FROM away
        WHERE dur_ns > blocked_ns
    ),
    cut AS (
        SELECT
            stretches.job,
            stretches.step,
            stretches.hop,
            pieces.part,
            pieces.within,
            greatest(pieces.start_ns, stretches.from_ns) AS start_ns,
            least(pieces.end_ns, stretches.until_ns) AS end_ns
        FROM stretches
        JOIN pieces
            ON pieces.recording = stretches.recording
            AND pieces.pid = stretches.pid
            AND pieces.own_step = stretches.own_step
        WHERE pieces.start_ns < stretches.until_ns AND pieces.end_ns > stretches.from_ns
    ),
    amounts AS (
        SELECT job, step, hop, part, start_ns, end_ns, end_ns - start_ns AS dur_ns
        FROM cut
        UNION ALL
        SELECT job, step, hop, within, NULL, NULL, start_ns - end_ns
        FROM cut
        WHERE within IS NOT NULL
    ),
    parts AS (
        SELECT
            job,
            step,
            hop,
            part,
            min(start_ns) AS start_ns,
            max(end_ns) AS end_ns,
            sum(dur_ns) AS dur_ns
        FROM amounts
        GROUP BY ALL
        HAVING sum(dur_ns) > 0
    ),
    path AS (
        SELECT
            stretches.job,
            stretches.step,
            2 * stretches.hop AS back,
            CASE
                WHEN stretches.together THEN 'everyone'
                WHEN stretches.known THEN format('rank {}', stretches.rank)
                ELSE format('pid {}', stretches.pid)
            END AS who,
            stretches.recording,
            stretches.pid,
            stretches.rank,
            CASE parts.part
                WHEN 'asleep' THEN 'asleep'
                WHEN 'cpu_wait' THEN 'CPU wait'
                WHEN 'gpu_wait' THEN 'GPU wait'
                WHEN 'collective' THEN 'communication'
                WHEN 'optimizer_step' THEN 'optimizer'
                WHEN 'unknown' THEN 'outside calls'
                ELSE replace(parts.part, '_', ' ')
            END AS what,
            stretches.cause,
            CAST(NULL AS BIGINT) AS comm_id,
            CAST(NULL AS BIGINT) AS number,
            parts.start_ns + stretches.shift_ns AS start_ns,
            parts.end_ns + stretches.shift_ns AS end_ns,
            parts.dur_ns
        FROM stretches
        JOIN parts ON parts.job = stretches.job AND parts.step = stretches.step AND parts.hop = stretches.hop
        UNION ALL
        SELECT
            stretches.job,
            stretches.step,
            2 * stretches.hop - 1,
            NULL,
            NULL,
            NULL,
            NULL,
            CASE
                WHEN waits.name LIKE 'nccl%'
                    THEN lower(regexp_replace(waits.name[5:], '([a-z])([A-Z])', '\1-\2', 'g')) || ' ' || waits.place
                ELSE waits.name
            END,
            NULL,
            waits.comm_id,
            waits.number,
            waits.start_ns,
            waits.end_ns,
            waits.end_ns - waits.start_ns
        FROM stretches
        JOIN _hand_overs AS waits ON waits.hand_over = stretches.hand_over
    ),
    step_kinds AS (
        SELECT job, step, any_value(step_kind) AS step_kind
        FROM stretches
        WHERE hop = 1
        GROUP BY job, step
    )
SELECT
    path.job, -- number of the job, from 0; -1, -2, ... for jobs without NCCL
    path.step, -- number of the step, the same in all ranks
    row_number() OVER step_order AS place, -- place on the path, from 1
    dense_rank() OVER (PARTITION BY path.job, path.step ORDER BY path.back DESC)
        AS stretch, -- number of the stretch of one rank, or of the collective, from 1
    step_kinds.step_kind, -- warmup, train, evaluation, checkpoint or profiler
    path.who, -- rank, or its process where that is not known, or everyone; NULL for a collective
    path.recording, -- recording that this is seen in; NULL for a collective
    path.pid, -- its process
    path.rank, -- its rank, or a number by process
    path.what, -- data wait, forward, backward, optimizer, asleep, CPU wait, ..., or a collective as all-reduce 14
    path.cause, -- why the rank came last, as in late_steps but for other; NULL where that is not known
    path.comm_id, -- communicator of a collective
    path.number, -- number of the collective on it
    path.start_ns, -- [ns] when it began, by the clock of the first machine, where that is known
    path.end_ns, -- [ns] when it last ended: other parts may lie between
    CAST(path.dur_ns AS BIGINT) AS dur_ns, -- [ns] how long it took
    path.dur_ns / sum(path.dur_ns) OVER (PARTITION BY path.job, path.step)
        AS share -- of the path of the step, 0 to 1
FROM path
JOIN step_kinds ON step_kinds.job = path.job AND step_kinds.step = path.step
WINDOW step_order AS (PARTITION BY path.job, path.step ORDER BY path.back DESC, path.start_ns, path.what)
ORDER BY path.job, path.step, place
