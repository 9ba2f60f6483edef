-- Steps that calls with the role `step` tell: from one call to the next, the last one to its own end.
--
-- What lies between two calls, such as fetching the next batch, so belongs to the first of them. Calls inside another
-- one of the same thread are part of it.
--
-- needs: _role_calls
CREATE TABLE _role_steps AS
WITH
    calls AS (
        SELECT
            recording,
            pid,
            tid,
            name,
            start_ns,
            end_ns,
            max(end_ns) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY start_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS until_ns
        FROM _role_calls
        WHERE role = 'step'
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    name, -- function or region
    start_ns, -- [ns] when the step begins: the call
    coalesce(
        lead(start_ns) OVER (PARTITION BY recording, pid, tid ORDER BY start_ns),
        end_ns
    ) AS end_ns -- [ns] when it ends; NULL where that is not known
FROM calls
WHERE coalesce(until_ns <= start_ns, TRUE)
