-- Threads that run Python code: it is in most of their stacks.
--
-- Threads of OpenMP, of autograd and of libraries have none of it.
--
-- needs: stack_events, stack_lines
CREATE TABLE _python_threads AS
WITH
    constants AS (
        SELECT 0.5 AS min_share -- of the stacks
    )
SELECT
    events.recording, -- recording
    events.pid, -- process
    events.tid -- thread
FROM stack_events AS events
JOIN stack_lines AS lines ON lines.id = events.id
CROSS JOIN constants
GROUP BY events.recording, events.pid, events.tid
HAVING count(CASE WHEN lines.python THEN 1 END) >= any_value(constants.min_share) * count(*)
