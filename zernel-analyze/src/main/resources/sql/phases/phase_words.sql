-- What the phases of each process with training threads are called where they are shown.
--
-- A process of which no call to a GPU was recorded, although such calls were watched for, computes on the CPU. Its
-- collectives are not NCCL's. The phases themselves keep their names.
--
-- needs: training_threads, _thread_kinds, kinds
-- digest: kept
CREATE VIEW phase_words AS
WITH
    watched AS (
        SELECT recording
        FROM kinds
        WHERE kind = 'cuda_launch' AND state IN ('attached', 'waiting')
    ),
    uses AS (
        SELECT
            recording,
            pid,
            bool_or(kind LIKE 'cuda\_%' ESCAPE '\' OR kind LIKE 'gpu\_%' ESCAPE '\') AS on_gpu,
            bool_or(kind = 'nccl') AS by_nccl
        FROM _thread_kinds
        GROUP BY ALL
    ),
    computing AS (
        SELECT DISTINCT
            threads.recording,
            threads.pid,
            watched.recording IS NULL OR coalesce(uses.on_gpu OR uses.by_nccl, FALSE) AS on_gpu
        FROM training_threads AS threads
        LEFT JOIN uses ON uses.recording = threads.recording AND uses.pid = threads.pid
        LEFT JOIN watched ON watched.recording = threads.recording
    ),
    words AS (
        SELECT
            unnest(['DataLoading', 'GpuCompute', 'NcclCollective', 'OptimizerStep', 'Unknown']) AS phase,
            unnest(['DataLoading', 'Compute', 'Collective', 'OptimizerStep', 'Unknown']) AS cpu_label,
            unnest(['waiting for data', 'compute and waits for the GPU', 'communication', 'optimizer', 'outside calls'])
                AS gpu_words,
            unnest(['waiting for data', 'compute', 'communication', 'optimizer', 'outside calls']) AS cpu_words
    )
SELECT
    computing.recording, -- recording
    computing.pid, -- process
    words.phase, -- phase
    CASE WHEN computing.on_gpu THEN words.phase ELSE words.cpu_label END AS label, -- its name in tables and pictures
    CASE WHEN computing.on_gpu THEN words.gpu_words ELSE words.cpu_words END AS words, -- its name in sentences
    computing.on_gpu -- whether the process used a GPU, or may have
FROM computing
CROSS JOIN words
ORDER BY computing.recording, computing.pid, words.phase
