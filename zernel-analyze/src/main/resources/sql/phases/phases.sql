-- Phases of each training thread: where its wall time went.
--
-- The five phases never overlap and add up to the time from the thread's first call to its last. DataLoading: inside
-- DataLoader `__next__`, and starting workers between two passes. NcclCollective: inside NCCL calls, waits of
-- torch.distributed, and waits for the GPU when the last work enqueued was a collective. OptimizerStep: inside
-- `Optimizer.step`, without the closure that it may run, and `zero_grad`. GpuCompute: backward, named regions, the
-- forward pass, also of evaluation, calls that allocate or release device memory, copies that do more than enqueue, and
-- other waits for the GPU, also inside the optimizer; it is wall time of dispatching and waiting, not GPU time.
-- Unknown: everything else, such as Python code between the calls. On threads without regions, `phase_rules` classify
-- what no call covers; `source` says what each phase rests on. What a training step has of them, `step_mean` says.
--
-- needs: _segments, _thread_numbers
-- digest: kept
CREATE VIEW phases AS
WITH
    names AS (
        SELECT unnest(['DataLoading', 'GpuCompute', 'NcclCollective', 'OptimizerStep', 'Unknown']) AS phase
    ),
    sources AS (
        SELECT thread, phase, source, inferred, count(*) AS segments, sum(dur_ns) AS total_ns
        FROM _segments
        GROUP BY ALL
    ),
    threads AS (
        SELECT numbers.*, CAST(sum(sources.total_ns) AS BIGINT) AS wall_ns
        FROM sources
        JOIN _thread_numbers AS numbers ON numbers.thread = sources.thread
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            thread,
            phase,
            CAST(sum(segments) AS BIGINT) AS segments,
            sum(total_ns) AS total_ns,
            sum(total_ns) FILTER (WHERE inferred) AS inferred_ns,
            string_agg(DISTINCT source, ', ' ORDER BY source) AS source
        FROM sources
        GROUP BY ALL
    )
SELECT
    threads.recording, -- recording
    threads.pid, -- process
    threads.tid, -- training thread
    names.phase, -- DataLoading, GpuCompute, NcclCollective, OptimizerStep or Unknown
    CAST(coalesce(sums.total_ns, 0) AS BIGINT) AS total_ns, -- [ns] wall time in the phase
    coalesce(sums.total_ns, 0) / threads.wall_ns AS share, -- share of the thread's wall time, 0 to 1
    CAST(coalesce(sums.inferred_ns, 0) AS BIGINT) AS inferred_ns, -- [ns] of total_ns that is inferred, not measured
    coalesce(sums.segments, 0) AS segments, -- uninterrupted stretches
    threads.wall_ns, -- [ns] from the thread's first call to its last
    coalesce(sums.source, '') AS source -- what it rests on: calls, neighbours, `rule: ...` or no call
FROM threads
CROSS JOIN names
LEFT JOIN sums ON sums.thread = threads.thread AND sums.phase = names.phase
ORDER BY threads.thread, names.phase
