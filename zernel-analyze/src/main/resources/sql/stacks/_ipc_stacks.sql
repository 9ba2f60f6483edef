-- Stacks in which a process hands objects to another by Python's multiprocessing or by joblib.
--
-- An object is pickled, written to a pipe, read from it and made again; the program's own line is in neither of the
-- threads that do so, but waits for what it asked for.
--
-- needs: _stack_frames
CREATE TABLE _ipc_stacks AS
WITH
    marked AS (
        SELECT
            id,
            frame,
            own,
            regexp_matches(file, '/(multiprocess(ing)?|billiard|loky/backend)/(reduction|connection|queues)\.py$')
                AS hands,
            regexp_matches(file, '/(multiprocess(ing)?|billiard)/pool\.py$|/joblib/parallel\.py$|/concurrent/futures/')
                AS asks
        FROM _stack_frames
        WHERE NOT native
    )
SELECT
    id, -- number of the stack
    bool_or(hands) AS hands, -- whether it pickles an object, or sends or receives one
    coalesce(min(frame) FILTER (asks) < min(frame) FILTER (own), FALSE)
        AS asks -- whether a line of the user's own has asked processes or threads of a pool for something
FROM marked
WHERE hands OR asks OR own
GROUP BY id
HAVING bool_or(hands OR asks)
