-- How long each training process is blocked for collectives in a step, for whatever reason they take that long.
--
-- A process whose communicators have one rank each sends nothing and waits for nobody.
--
-- needs: _rare_events, _nccl_calls, _syncs, _trained
-- digest: kept
CREATE TABLE _communication_waits AS
WITH
    alone AS (
        SELECT recording, pid
        FROM _nccl_calls
        WHERE kind = 'nccl' AND bytes IS NOT NULL
        GROUP BY recording, pid
        HAVING max(coalesce(nranks, 2)) = 1
    ),
    waits AS (
        SELECT
            recording,
            pid,
            ts_ns AS start_ns,
            dur_ns AS exposed_ns,
            dur_ns AS most_ns,
            0 AS alone,
            0 AS alone_ns,
            TRUE AS on_cpu
        FROM _rare_events
        WHERE kind = 'dist_wait'
            AND dur_ns > 0
            AND (recording, pid) NOT IN (SELECT recording, pid FROM _rare_events WHERE kind = 'nccl')
        UNION ALL
        SELECT
            recording,
            pid,
            start_ns,
            CASE WHEN only_collectives THEN dur_ns ELSE 0 END,
            end_ns - first_collective_ns,
            CASE WHEN only_collectives THEN collectives ELSE 0 END,
            CASE WHEN only_collectives THEN end_ns - first_collective_ns ELSE 0 END,
            FALSE
        FROM _syncs
        WHERE collectives > 0 AND (recording, pid) NOT IN (SELECT recording, pid FROM alone)
    )
SELECT
    trained.recording, -- recording
    trained.pid, -- process
    trained.tid, -- training thread
    any_value(trained.steps) AS steps, -- steps, without warm-up
    any_value(trained.step_ns) AS step_ns, -- [ns] mean step
    any_value(trained.start_ns) AS start_ns, -- [ns] when they began
    any_value(trained.end_ns) AS end_ns, -- [ns] when they ended
    any_value(trained.nccl_collective_ns) AS phase_ns, -- [ns] of a step in the phase NcclCollective
    CAST(coalesce(sum(waits.exposed_ns), 0) AS BIGINT) AS exposed_ns, -- [ns] of all steps, blocked for nothing else
    CAST(coalesce(sum(waits.most_ns), 0) AS BIGINT) AS most_ns, -- [ns] of all steps, at most
    CAST(coalesce(sum(waits.alone), 0) AS BIGINT) AS alone, -- collectives with no other work beside them
    CAST(coalesce(sum(waits.alone_ns), 0) AS BIGINT)
        AS alone_ns, -- [ns] from the first of these calls to the end of the wait for them
    coalesce(bool_and(waits.on_cpu), FALSE) AS on_cpu -- whether all waits are of torch.distributed, without NCCL
FROM _trained AS trained
LEFT JOIN waits
    ON waits.recording = trained.recording
    AND waits.pid = trained.pid
    AND waits.start_ns >= trained.start_ns
    AND waits.start_ns < trained.end_ns
GROUP BY trained.recording, trained.pid, trained.tid;

-- How long each training process waits for collectives in a step, and how long it can at most.
--
-- The least is certain: waits for the GPU that began when it had nothing but collectives to do, and waits of
-- torch.distributed in processes that do not use NCCL (those that do mostly return at once, and wait for computation
-- where they block), less what those take longer than in the rank of the job that waits least: for late ranks, not for
-- communication. The most is the time from the first collective after a wait for the GPU to the end of the next
-- wait: communication in it may be hidden by computation, or hold it up, which only the GPU knows.
--
-- needs: _communication_waits, _wait_arrivals
CREATE TABLE _communication AS
WITH
    late AS (
        SELECT arrivals.recording, arrivals.pid, sum(arrivals.late_ns) AS late_ns
        FROM _wait_arrivals AS arrivals
        JOIN _communication_waits AS trained
            ON trained.recording = arrivals.recording
            AND trained.pid = arrivals.pid
        WHERE arrivals.ts_ns >= trained.start_ns AND arrivals.ts_ns < trained.end_ns
        GROUP BY ALL
    )
SELECT
    waits.recording, -- recording
    waits.pid, -- process
    waits.tid, -- training thread
    waits.steps, -- steps, without warm-up
    waits.step_ns, -- [ns] mean step
    greatest(waits.phase_ns - coalesce(late.late_ns, 0) / waits.steps, 0)
        AS phase_ns, -- [ns] of it in the phase NcclCollective, less `late_ns`
    greatest(waits.exposed_ns - coalesce(late.late_ns, 0), 0) / waits.steps
        AS exposed_ns, -- [ns] blocked for nothing else
    least(greatest(waits.most_ns - coalesce(late.late_ns, 0), 0) / waits.steps, waits.step_ns)
        AS most_ns, -- [ns] at most
    coalesce(late.late_ns, 0) / waits.steps AS late_ns, -- [ns] of waits of torch.distributed, for ranks that are late
    waits.alone / waits.steps AS alone, -- collectives with no other work beside them
    waits.alone_ns / waits.steps
        AS alone_ns, -- [ns] from the first of these calls to the end of the wait for them
    waits.on_cpu -- whether all waits are of torch.distributed, without NCCL
FROM _communication_waits AS waits
LEFT JOIN late ON late.recording = waits.recording AND late.pid = waits.pid
