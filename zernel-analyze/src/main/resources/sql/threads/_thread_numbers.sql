-- Training threads with a number for each, in order of recording, pid and tid.
--
-- A training thread is one with `Optimizer.step` regions, one that fetches batches and runs backward passes, or one
-- with `_step_markers` or calls that have the role `step`. Where no thread of its process is such, it is one with
-- DataLoader `__next__` regions only, or with the role `optimizer` or `data_wait`: a thread that fetches ahead for one
-- that trains is none. To sort and to join by one short key costs less than by three.
--
-- needs: _rare_events, _step_markers, _role_calls
CREATE TABLE _thread_numbers AS
WITH
    calls AS (
        SELECT
            recording,
            pid,
            tid,
            CASE
                WHEN kind = 'backward' THEN 'backward'
                WHEN name LIKE 'Optimizer.step#%' THEN 'optimizer'
                ELSE 'data_wait'
            END AS part,
            FALSE AS said
        FROM _rare_events
        WHERE dur_ns > 0
            AND (
                kind = 'backward'
                OR (kind = 'region' AND (name LIKE 'enumerate(DataLoader)#%' OR name LIKE 'Optimizer.step#%'))
            )
        UNION ALL
        SELECT recording, pid, tid, 'step', FALSE
        FROM _step_markers
        UNION ALL
        SELECT recording, pid, tid, role, TRUE
        FROM _role_calls
        WHERE role IN ('step', 'optimizer', 'data_wait')
    ),
    threads AS (
        SELECT
            recording,
            pid,
            tid,
            bool_or(part = 'step' OR (part = 'optimizer' AND NOT said))
                OR (bool_or(part = 'backward') AND bool_or(part = 'data_wait')) AS trains
        FROM calls
        GROUP BY recording, pid, tid
        HAVING bool_or(part <> 'backward')
    ),
    training AS (
        SELECT recording, pid, tid
        FROM threads
        QUALIFY trains OR NOT bool_or(trains) OVER (PARTITION BY recording, pid)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    CAST(row_number() OVER (ORDER BY recording, pid, tid) AS INTEGER) AS thread -- its number, from 1
FROM training
