-- Calls of `Optimizer.step` that run a closure: a backward pass is inside, as with PyTorch Lightning and LBFGS.
--
-- The closure is the forward and the backward pass, so all up to the end of the last backward pass is computation. Of
-- optimizers inside one another, the outermost counts.
--
-- needs: _intervals
CREATE TABLE _closures AS
WITH
    optimizers AS (
        SELECT
            thread,
            start_ns,
            end_ns,
            max(end_ns) OVER (
                PARTITION BY thread
                ORDER BY start_ns, end_ns DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS until_ns
        FROM _intervals
        WHERE part = 'optimizer_step'
    ),
    outermost AS (
        SELECT thread, start_ns, end_ns
        FROM optimizers
        WHERE coalesce(until_ns <= start_ns, TRUE)
    ),
    backwards AS (
        SELECT thread, start_ns, end_ns
        FROM _intervals
        WHERE part = 'backward'
    )
SELECT
    outermost.thread, -- number of the training thread
    outermost.start_ns, -- [ns] when `Optimizer.step` was called
    max(backwards.end_ns) AS end_ns -- [ns] end of the last backward pass inside it
FROM backwards
ASOF JOIN outermost
    ON outermost.thread = backwards.thread
    AND outermost.start_ns <= backwards.start_ns
WHERE backwards.end_ns <= outermost.end_ns
GROUP BY outermost.thread, outermost.start_ns;

-- The wall time of each training thread, cut at every begin and end of a call: no overlap, no hole.
--
-- The innermost open call decides what a segment is, so nested calls never count twice; of two with the same begin and
-- end, the one that says more than `compute`. Where no call is open, the time that leads from a batch to its backward
-- pass is the forward pass (inferred: nothing else can produce the loss), on threads that a DataLoader feeds; any other
-- such time is unknown. In an `Optimizer.step` that runs a closure, all up to the end of its last backward pass is
-- forward where no call inside says more. In an evaluation loop it is evaluation. Left out is what lies between two
-- steps of PyTorch's profiler that do not follow each other at once: nobody looked.
--
-- needs: _intervals, _closures, _evaluations, _role_calls, _thread_numbers
CREATE TABLE _pieces AS
WITH
    constants AS (
        SELECT 0.5 AS min_gap -- of the step before, from which on it was not profiled what followed
    ),
    ordered AS (
        SELECT
            calls.thread,
            calls.start_ns,
            calls.end_ns,
            calls.part,
            calls.fed,
            closures.end_ns AS closure_ns,
            max(evaluations.end_ns) OVER (thread_order ROWS UNBOUNDED PRECEDING) AS evaluates_until_ns,
            max(calls.end_ns) OVER (thread_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns,
            lead(calls.start_ns) OVER thread_order AS next_ns,
            lead(CASE
                WHEN calls.part IN ('data_wait', 'backward', 'optimizer_step') AND closures.end_ns IS NULL
                    THEN calls.part = 'backward'
            END IGNORE NULLS) OVER thread_order AS backward_next,
            count(CASE WHEN calls.part = 'data_wait' THEN 1 END) OVER (thread_order ROWS UNBOUNDED PRECEDING)
                AS batches_before
        FROM _intervals AS calls
        LEFT JOIN _closures AS closures
            ON closures.thread = calls.thread
            AND closures.start_ns = calls.start_ns
            AND calls.part = 'optimizer_step'
        LEFT JOIN _evaluations AS evaluations
            ON evaluations.thread = calls.thread
            AND evaluations.start_ns = calls.start_ns
            AND calls.part IN ('data_wait', 'worker_start')
        WINDOW thread_order AS (PARTITION BY calls.thread ORDER BY calls.start_ns, calls.end_ns DESC)
    ),
    -- Most calls are alone. Only the others have to be cut where one begins or ends in another.
    placed AS (
        SELECT
            thread,
            start_ns,
            end_ns,
            part,
            closure_ns,
            coalesce(until_ns <= start_ns, TRUE) AND coalesce(end_ns <= next_ns, TRUE) AS alone,
            greatest(end_ns, until_ns) AS idle_ns,
            next_ns,
            CASE
                WHEN backward_next AND batches_before > 0 AND fed THEN 'forward'
                WHEN greatest(end_ns, until_ns) < evaluates_until_ns THEN 'evaluation'
                ELSE 'unknown'
            END AS idle_part
        FROM ordered
    ),
    edges AS (
        SELECT thread, start_ns AS at_ns, TRUE AS enters, -end_ns AS tie, part, closure_ns
        FROM placed
        WHERE NOT alone
        UNION ALL
        SELECT thread, end_ns AS at_ns, FALSE AS enters, -start_ns AS tie, NULL AS part, NULL AS closure_ns
        FROM placed
        WHERE NOT alone
    ),
    levels AS (
        SELECT
            thread,
            at_ns,
            part,
            row_number() OVER thread_order AS position,
            lead(at_ns) OVER thread_order AS next_ns,
            max(closure_ns) OVER (thread_order ROWS UNBOUNDED PRECEDING) AS closure_ns,
            sum(CASE WHEN enters THEN 1 ELSE -1 END) OVER (thread_order ROWS UNBOUNDED PRECEDING) AS depth
        FROM edges
        WINDOW thread_order AS (PARTITION BY thread ORDER BY at_ns, enters, tie, part DESC)
    ),
    -- After an end, the call that is open again is the last one that began at this depth.
    nested AS (
        SELECT
            thread,
            at_ns,
            next_ns,
            last_value(part IGNORE NULLS) OVER (
                PARTITION BY thread, depth
                ORDER BY position
                ROWS UNBOUNDED PRECEDING
            ) AS part,
            coalesce(at_ns < closure_ns, FALSE) AS in_closure
        FROM levels
        WHERE depth > 0
    ),
    pieces AS (
        SELECT thread, start_ns, end_ns, part, FALSE AS inferred
        FROM placed
        WHERE alone
        UNION ALL
        SELECT thread, idle_ns, next_ns, CAST(idle_part AS step_part), idle_part <> 'unknown'
        FROM placed
        UNION ALL
        SELECT
            thread,
            at_ns,
            next_ns,
            CASE WHEN in_closure AND part = 'optimizer_step' THEN CAST('forward' AS step_part) ELSE part END,
            in_closure AND part = 'optimizer_step'
        FROM nested
    ),
    profiled AS (
        SELECT
            numbers.thread,
            calls.end_ns - calls.start_ns AS dur_ns,
            calls.end_ns AS start_ns,
            lead(calls.start_ns) OVER (PARTITION BY numbers.thread ORDER BY calls.start_ns) AS end_ns
        FROM _role_calls AS calls
        JOIN _thread_numbers AS numbers USING (recording, pid, tid)
        WHERE calls.role = 'step' AND calls.name = 'ProfilerStep'
    ),
    gaps AS (
        SELECT thread, start_ns, end_ns
        FROM profiled
        CROSS JOIN constants
        WHERE end_ns - start_ns >= constants.min_gap * dur_ns
    )
SELECT
    thread, -- number of the training thread
    start_ns, -- [ns] begin of the piece
    end_ns, -- [ns] end of the piece
    part, -- one of `step_part`, such as data_wait, forward or unknown
    inferred -- whether the part follows from its neighbours, not from a call
FROM pieces
ANTI JOIN gaps USING (thread, start_ns, end_ns)
WHERE end_ns > start_ns
