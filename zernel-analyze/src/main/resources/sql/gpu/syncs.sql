-- Time blocked until the GPU is done, per process, thread and function.
--
-- That a thread waits for the GPU is healthy when the GPU is what limits the job; many short waits inside a step are
-- not, because the GPU has nothing to do after each. Copies that block are in here too. Sums are of all of the
-- recording; what is per step is of steps of kind train.
--
-- needs: _syncs, _step_counts, _step_spans
CREATE VIEW syncs AS
WITH
    waits AS (
        SELECT
            recording,
            pid,
            tid,
            name,
            CASE WHEN for_collective THEN 'collective' ELSE 'compute' END AS waits_for,
            start_ns AS at_ns,
            dur_ns
        FROM _syncs
    ),
    spans AS (
        SELECT recording, pid, from_ns, until_ns
        FROM _step_spans
        WHERE steady
    ),
    steady AS (
        SELECT recording, pid, tid, name, waits_for, count(*) AS syncs
        FROM in_spans(waits, spans)
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            name,
            waits_for,
            count(*) AS syncs,
            sum(dur_ns) AS sum_ns,
            quantile_cont(dur_ns, [0.5, 0.99]) AS q,
            max(dur_ns) AS max_ns
        FROM waits
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.tid, -- thread
    sums.name, -- function
    sums.waits_for, -- compute or collective: the last work enqueued before
    sums.syncs, -- calls
    coalesce(steady.syncs, 0) / counts.steady_steps AS per_step, -- calls in a mean step of kind train
    CAST(sums.sum_ns AS BIGINT) AS sum_ns, -- [ns] blocked
    CAST(sums.q[1] AS BIGINT) AS p50_ns, -- [ns] median
    CAST(sums.q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    sums.max_ns -- [ns] longest
FROM sums
LEFT JOIN _step_counts AS counts ON counts.recording = sums.recording AND counts.pid = sums.pid
LEFT JOIN steady
    ON steady.recording = sums.recording
    AND steady.pid = sums.pid
    AND steady.tid = sums.tid
    AND steady.name = sums.name
    AND steady.waits_for = sums.waits_for
ORDER BY sums.recording, sums.pid, sums.sum_ns DESC, sums.tid, sums.name, sums.waits_for
