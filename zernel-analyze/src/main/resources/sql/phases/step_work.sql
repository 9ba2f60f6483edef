-- What each step had the GPU do: launches, copies, waits, allocations and collectives of the whole process.
--
-- A step is one of the process's training thread with the most steps. Work of other threads, such as backward's, counts
-- where it began. Times are those of calls on the CPU, summed over threads. Where only a sample of launches was
-- recorded, their number and time are scaled up; where they were recorded in windows of time, they are known of
-- detailed steps; where they were only counted, of none.
--
-- needs: _rare_events, _step_launches, steps, _step_counts, _step_spans, _syncs, _sampled, _detail
-- digest: kept
CREATE TABLE step_work AS
WITH
    spans AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            steps.step,
            steps.start_ns,
            steps.end_ns,
            steps.dur_ns,
            steps.step_kind,
            steps.detailed,
            steps.detail_share,
            CASE
                WHEN sampled.stored = 0 THEN NULL
                WHEN steps.detailed OR detail.kind IS NULL THEN 0
            END AS no_launches,
            coalesce(sampled.calls / nullif(sampled.stored, 0), 1) AS stands_for
        FROM steps
        LEFT JOIN _detail AS detail ON detail.recording = steps.recording AND detail.kind = 'cuda_launch'
        LEFT JOIN _sampled AS sampled ON sampled.recording = steps.recording AND sampled.kind = 'cuda_launch'
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
    ),
    calls AS (
        SELECT recording, pid, kind, name, ts_ns AS at_ns, dur_ns, bytes
        FROM _rare_events
        WHERE kind IN ('cuda_graph', 'cuda_copy', 'gpu_alloc', 'gpu_free', 'nccl', 'dist_wait')
    ),
    work AS (
        SELECT
            recording,
            pid,
            step,
            count(CASE WHEN kind = 'cuda_graph' AND name LIKE '%GraphLaunch%' THEN 1 END) AS graph_launches,
            count(CASE WHEN kind = 'cuda_copy' THEN 1 END) AS copies,
            sum(CASE WHEN kind = 'cuda_copy' THEN bytes END) AS copied_bytes,
            sum(CASE WHEN kind = 'cuda_copy' THEN dur_ns END) AS copy_ns,
            count(CASE WHEN kind = 'gpu_alloc' THEN 1 END) AS allocs,
            count(CASE WHEN kind = 'gpu_free' THEN 1 END) AS frees,
            sum(CASE WHEN kind IN ('gpu_alloc', 'gpu_free') THEN dur_ns END) AS alloc_ns,
            count(CASE WHEN kind = 'nccl' AND name NOT LIKE 'ncclGroup%' THEN 1 END) AS collectives,
            sum(CASE WHEN kind = 'nccl' THEN bytes END) AS collective_bytes,
            sum(CASE WHEN kind = 'nccl' THEN dur_ns END) AS collective_ns,
            sum(CASE WHEN kind = 'dist_wait' THEN dur_ns END) AS dist_wait_ns
        FROM in_spans(calls, _step_spans)
        GROUP BY ALL
    ),
    blocked AS (
        SELECT recording, pid, start_ns AS at_ns, dur_ns, for_collective
        FROM _syncs
    ),
    waits AS (
        SELECT
            recording,
            pid,
            step,
            count(*) AS syncs,
            sum(dur_ns) AS sync_ns,
            sum(CASE WHEN for_collective THEN dur_ns END) AS collective_sync_ns
        FROM in_spans(blocked, _step_spans)
        GROUP BY ALL
    )
SELECT
    spans.recording, -- recording
    spans.pid, -- process
    spans.tid, -- training thread whose steps these are
    spans.step, -- number of the step, from 1
    spans.start_ns, -- [ns] when it began
    spans.end_ns, -- [ns] when it ended
    spans.dur_ns, -- [ns] wall time
    spans.step_kind, -- warmup, train, evaluation, checkpoint or profiler
    spans.detailed, -- whether detail was recorded all through it
    spans.detail_share, -- share of it with detail, 0 to 1
    CAST(round(coalesce(launched.launches, no_launches) * stands_for) AS BIGINT)
        AS launches, -- kernel launches; NULL where they are not known
    CAST(coalesce(launched.launch_ns, no_launches) * stands_for AS BIGINT)
        AS launch_ns, -- [ns] time to enqueue them; NULL where that is not known
    coalesce(work.graph_launches, 0) AS graph_launches, -- launches of CUDA graphs
    coalesce(work.copies, 0) AS copies, -- copies and fills
    CAST(coalesce(work.copied_bytes, 0) AS BIGINT) AS copied_bytes, -- [bytes] of them
    CAST(coalesce(work.copy_ns, 0) AS BIGINT) AS copy_ns, -- [ns] time in these calls
    coalesce(waits.syncs, 0) AS syncs, -- calls that blocked until the GPU was done
    CAST(coalesce(waits.sync_ns, 0) AS BIGINT) AS sync_ns, -- [ns] blocked in them
    CAST(coalesce(waits.collective_sync_ns, 0) AS BIGINT) AS collective_sync_ns, -- [ns] of it, for a collective
    coalesce(work.allocs, 0) AS allocs, -- allocations of device memory
    coalesce(work.frees, 0) AS frees, -- releases of device memory
    CAST(coalesce(work.alloc_ns, 0) AS BIGINT) AS alloc_ns, -- [ns] time in both
    coalesce(work.collectives, 0) AS collectives, -- NCCL operations
    CAST(coalesce(work.collective_bytes, 0) AS BIGINT) AS collective_bytes, -- [bytes] of them
    CAST(coalesce(work.collective_ns, 0) AS BIGINT) AS collective_ns, -- [ns] time to enqueue them
    CAST(coalesce(work.dist_wait_ns, 0) AS BIGINT) AS dist_wait_ns -- [ns] blocked on torch.distributed
FROM spans
LEFT JOIN _step_launches AS launched
    ON launched.recording = spans.recording
    AND launched.pid = spans.pid
    AND launched.step = spans.step
    AND spans.no_launches = 0
LEFT JOIN work ON work.recording = spans.recording AND work.pid = spans.pid AND work.step = spans.step
LEFT JOIN waits ON waits.recording = spans.recording AND waits.pid = spans.pid AND waits.step = spans.step
ORDER BY spans.recording, spans.pid, spans.step
