-- Training threads with a number for each, in order of recording, pid and tid.
--
-- A training thread is one with `Optimizer.step` or DataLoader `__next__` regions, with `_step_markers`, or with calls
-- that have the role `step`; where no thread of its process has those, with the role `optimizer` or `data_wait`. To
-- sort and to join by one short key costs less than by three.
--
-- needs: _rare_events, _step_markers, _role_calls
CREATE TABLE _thread_numbers AS
WITH
    training AS (
        SELECT DISTINCT recording, pid, tid
        FROM _rare_events
        WHERE kind = 'region'
            AND (name LIKE 'enumerate(DataLoader)#%' OR name LIKE 'Optimizer.step#%')
            AND dur_ns > 0
        UNION
        SELECT DISTINCT recording, pid, tid
        FROM _step_markers
        UNION
        SELECT recording, pid, tid
        FROM _role_calls
        WHERE role IN ('step', 'optimizer', 'data_wait')
        QUALIFY role = 'step' OR NOT bool_or(role = 'step') OVER (PARTITION BY recording, pid)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    CAST(row_number() OVER (ORDER BY recording, pid, tid) AS INTEGER) AS thread -- its number, from 1
FROM training
