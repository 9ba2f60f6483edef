-- The wall time of each training thread, cut at every begin and end of a call: no overlap, no hole.
--
-- The innermost open call decides what a segment is, so nested calls never count twice. Where no call is open, the time
-- that leads from a batch to its backward pass is the forward pass (inferred: nothing else can produce the loss), on
-- threads that use a DataLoader; any other such time is unknown.
--
-- needs: _intervals
CREATE TABLE _pieces AS
WITH
    edges AS (
        SELECT recording, pid, tid, start_ns AS at_ns, TRUE AS enters, -end_ns AS tie, part
        FROM _intervals
        UNION ALL
        SELECT recording, pid, tid, end_ns AS at_ns, FALSE AS enters, -start_ns AS tie, NULL AS part
        FROM _intervals
    ),
    levels AS (
        SELECT
            recording,
            pid,
            tid,
            at_ns,
            part,
            row_number() OVER thread_order AS position,
            lead(at_ns) OVER thread_order AS next_ns,
            sum(CASE WHEN enters THEN 1 ELSE -1 END) OVER (thread_order ROWS UNBOUNDED PRECEDING) AS depth,
            lead(CASE WHEN part IN ('data_wait', 'backward', 'optimizer_step') THEN part = 'backward' END IGNORE NULLS)
                OVER thread_order AS backward_next,
            count(CASE WHEN part = 'data_wait' THEN 1 END) OVER (thread_order ROWS UNBOUNDED PRECEDING)
                AS batches_before
        FROM edges
        WINDOW thread_order AS (PARTITION BY recording, pid, tid ORDER BY at_ns, enters, tie)
    ),
    -- After an end, the call that is open again is the last one that began at this depth. At depth 0 there is none: to
    -- look for it there would take time that grows with the square of the rows.
    pieces AS (
        SELECT
            recording,
            pid,
            tid,
            at_ns AS start_ns,
            next_ns AS end_ns,
            last_value(part IGNORE NULLS) OVER (
                PARTITION BY recording, pid, tid, depth
                ORDER BY position
                ROWS UNBOUNDED PRECEDING
            ) AS part,
            FALSE AS inferred
        FROM levels
        WHERE depth > 0
        UNION ALL
        SELECT
            recording,
            pid,
            tid,
            at_ns,
            next_ns,
            CASE WHEN backward_next AND batches_before > 0 THEN 'forward' ELSE 'unknown' END,
            coalesce(backward_next AND batches_before > 0, FALSE)
        FROM levels
        WHERE depth = 0
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    start_ns, -- [ns] begin of the piece
    end_ns, -- [ns] end of the piece
    part, -- data_wait, forward, backward, compute, gpu_wait, collective, optimizer_step, zero_grad or unknown
    inferred -- whether the part follows from its neighbours, not from a call
FROM pieces
WHERE end_ns > start_ns
