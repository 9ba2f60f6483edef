-- What GPU processes without regions are for: training, inference, or unknown.
--
-- Training has backward passes or regions of an optimizer. Inference is PyTorch without both, where backward passes
-- would have been seen. CUDA graphs may hold them: a process that launches hardly anything else, and began before the
-- recording did, may be either. So may be one without PyTorch, as with JAX.
--
-- needs: _without_regions, _thread_kinds, _rare_events, _kernel_names, _process_info, kinds, recordings
-- needs: _detail_shares
CREATE TABLE _purposes AS
WITH
    counts AS (
        SELECT
            others.recording,
            others.pid,
            sum(CASE WHEN threads.kind = 'backward' THEN threads.events ELSE 0 END) AS backwards,
            sum(CASE
                WHEN threads.kind = 'cuda_launch' THEN threads.events / greatest(coalesce(shares.share, 1), 1e-6)
                ELSE 0
            END) AS launches,
            sum(CASE WHEN threads.kind = 'cuda_graph' THEN threads.events ELSE 0 END) AS graphs,
            bool_or(threads.kind IN ('torch_alloc', 'torch_free', 'region', 'dist_wait')) AS calls_torch
        FROM _without_regions AS others
        JOIN _thread_kinds AS threads ON threads.recording = others.recording AND threads.pid = others.pid
        LEFT JOIN _detail_shares AS shares
            ON shares.recording = threads.recording
            AND shares.kind = threads.kind
        GROUP BY others.recording, others.pid
    ),
    optimizing AS (
        SELECT DISTINCT recording, pid
        FROM _rare_events
        WHERE kind = 'region' AND name LIKE 'Optimizer.%'
    ),
    launching_torch AS (
        SELECT DISTINCT recording, pid
        FROM _kernel_names
        WHERE kernel LIKE '%at::native%' OR kernel LIKE '\_ZN%2at6native%' ESCAPE '\'
    ),
    watched AS (
        SELECT recording
        FROM kinds
        WHERE kind = 'backward' AND state = 'attached'
    )
SELECT
    counts.recording, -- recording
    counts.pid, -- process
    CASE
        WHEN counts.backwards > 0 OR optimizing.pid IS NOT NULL THEN 'training'
        WHEN watched.recording IS NOT NULL
                AND (counts.calls_torch OR launching_torch.pid IS NOT NULL)
                AND (counts.launches > counts.graphs OR coalesce(info.started_ns >= recordings.started_ns, FALSE))
            THEN 'inference'
        ELSE 'unknown'
    END AS purpose -- training, inference or unknown
FROM counts
JOIN recordings ON recordings.recording = counts.recording
LEFT JOIN optimizing ON optimizing.recording = counts.recording AND optimizing.pid = counts.pid
LEFT JOIN launching_torch ON launching_torch.recording = counts.recording AND launching_torch.pid = counts.pid
LEFT JOIN watched ON watched.recording = counts.recording
LEFT JOIN _process_info AS info ON info.recording = counts.recording AND info.pid = counts.pid
