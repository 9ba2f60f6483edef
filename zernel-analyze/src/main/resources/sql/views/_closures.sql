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
GROUP BY outermost.thread, outermost.start_ns
