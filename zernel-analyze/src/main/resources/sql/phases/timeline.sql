-- Which phase each training thread was in from a moment to another, in buckets, and how busy the GPUs were.
--
-- A bucket belongs to the phase with the most time in it. Times are by the clock of the first recording. It takes
-- three arguments: begin, end and length of a bucket, in nanoseconds.
--
-- needs: phase_spans, steps, events, clock_shifts
CREATE MACRO timeline(begin_ns, finish_ns, length_ns) AS TABLE
WITH
    bounds AS (
        SELECT
            CAST(begin_ns AS BIGINT) AS from_ns,
            CAST(finish_ns AS BIGINT) AS to_ns,
            CAST(length_ns AS BIGINT) AS bucket_ns
    ),
    cut AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.tid,
            spans.phase,
            bounds.from_ns,
            bounds.bucket_ns,
            greatest(spans.start_ns + clocks.shift_ns, bounds.from_ns) AS start_ns,
            least(spans.end_ns + clocks.shift_ns, bounds.to_ns) AS end_ns
        FROM phase_spans AS spans
        JOIN clock_shifts AS clocks ON clocks.recording = spans.recording
        CROSS JOIN bounds
        WHERE spans.start_ns + clocks.shift_ns < bounds.to_ns AND spans.end_ns + clocks.shift_ns > bounds.from_ns
    ),
    pieces AS (
        SELECT
            recording,
            pid,
            tid,
            phase,
            from_ns,
            bucket_ns,
            start_ns,
            end_ns,
            unnest(range((start_ns - from_ns) // bucket_ns, (end_ns - 1 - from_ns) // bucket_ns + 1)) AS bucket
        FROM cut
    ),
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            bucket,
            from_ns + bucket * bucket_ns AS start_ns,
            phase,
            CAST(sum(least(end_ns, from_ns + (bucket + 1) * bucket_ns)
                - greatest(start_ns, from_ns + bucket * bucket_ns)) AS BIGINT) AS ns
        FROM pieces
        GROUP BY ALL
    ),
    ended AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            (steps.end_ns + clocks.shift_ns - 1 - bounds.from_ns) // bounds.bucket_ns AS bucket,
            count(*) AS steps
        FROM steps
        JOIN clock_shifts AS clocks ON clocks.recording = steps.recording
        CROSS JOIN bounds
        WHERE steps.end_ns + clocks.shift_ns > bounds.from_ns AND steps.end_ns + clocks.shift_ns <= bounds.to_ns
        GROUP BY ALL
    ),
    threads AS (
        SELECT
            recording,
            pid,
            tid,
            bucket,
            start_ns,
            arg_max(phase, ns) AS phase,
            sum(CASE WHEN phase = 'DataLoading' THEN ns ELSE 0 END) AS data_loading_ns,
            sum(CASE WHEN phase = 'GpuCompute' THEN ns ELSE 0 END) AS gpu_compute_ns,
            sum(CASE WHEN phase = 'NcclCollective' THEN ns ELSE 0 END) AS nccl_collective_ns,
            sum(CASE WHEN phase = 'OptimizerStep' THEN ns ELSE 0 END) AS optimizer_step_ns,
            sum(CASE WHEN phase = 'Unknown' THEN ns ELSE 0 END) AS unknown_ns
        FROM sums
        GROUP BY ALL
    ),
    devices AS (
        SELECT
            samples.recording,
            samples.device,
            (samples.ts_ns + clocks.shift_ns - bounds.from_ns) // bounds.bucket_ns AS bucket,
            bounds.from_ns,
            bounds.bucket_ns,
            avg(samples.value) AS gpu_percent
        FROM events AS samples
        JOIN clock_shifts AS clocks ON clocks.recording = samples.recording
        CROSS JOIN bounds
        WHERE samples.kind = 'gpu_sample'
            AND samples.name = 'utilization'
            AND samples.ts_ns + clocks.shift_ns >= bounds.from_ns
            AND samples.ts_ns + clocks.shift_ns < bounds.to_ns
        GROUP BY ALL
    ),
    rows_of_both AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            CAST(NULL AS BIGINT) AS device,
            threads.bucket,
            threads.start_ns,
            threads.phase,
            threads.data_loading_ns,
            threads.gpu_compute_ns,
            threads.nccl_collective_ns,
            threads.optimizer_step_ns,
            threads.unknown_ns,
            coalesce(ended.steps, 0) AS steps,
            CAST(NULL AS DOUBLE) AS gpu_percent
        FROM threads
        LEFT JOIN ended
            ON ended.recording = threads.recording
            AND ended.pid = threads.pid
            AND ended.tid = threads.tid
            AND ended.bucket = threads.bucket
        UNION ALL
        SELECT
            recording, NULL, NULL, device, bucket, from_ns + bucket * bucket_ns, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, gpu_percent
        FROM devices
    )
SELECT
    recording, -- recording
    pid, -- process; NULL of a GPU
    tid, -- training thread; NULL of a GPU
    device, -- GPU as the driver counts them; NULL of a thread
    bucket, -- place on the timeline, from 0
    start_ns, -- [ns] when the bucket begins
    phase, -- the phase with the most time in it
    CAST(data_loading_ns AS BIGINT) AS data_loading_ns, -- [ns] waiting for data
    CAST(gpu_compute_ns AS BIGINT) AS gpu_compute_ns, -- [ns] in compute and waits for the GPU
    CAST(nccl_collective_ns AS BIGINT) AS nccl_collective_ns, -- [ns] in NCCL calls and waits for collectives
    CAST(optimizer_step_ns AS BIGINT) AS optimizer_step_ns, -- [ns] in the optimizer
    CAST(unknown_ns AS BIGINT) AS unknown_ns, -- [ns] in anything else
    steps, -- steps that ended in it
    gpu_percent -- [%] mean utilization of the GPU
FROM rows_of_both
ORDER BY recording, pid NULLS LAST, tid, device, bucket
