-- Moments in which a process compiles while it runs.
--
-- It opens a cache of compiled kernels, captures a CUDA graph, or a process that it or one of its children forked runs
-- a compiler, as TorchInductor does for the CPU. The caches are those of TorchInductor, Triton, JAX and the driver; the
-- packages of these are none.
--
-- needs: events, _rare_events
CREATE TABLE _compiles AS
WITH RECURSIVE
    constants AS (
        SELECT 6 AS most_generations -- between a process and a compiler that runs for it
    ),
    compilers AS (
        SELECT recording, pid, ts_ns
        FROM events
        WHERE kind = 'process'
            AND name = 'exec'
            AND regexp_matches(comm, '^(cc1|cc1plus|clang.*|icpx|ptxas|cicc|nvcc)$')
    ),
    forks AS (
        SELECT recording, child_pid AS pid, any_value(pid) AS parent
        FROM events
        WHERE kind = 'process'
            AND name = 'fork'
            AND child_pid = child_tid
            AND recording IN (SELECT recording FROM compilers)
        GROUP BY recording, child_pid
    ),
    ancestors AS (
        SELECT recording, pid, ts_ns, 0 AS generation
        FROM compilers
        UNION ALL
        SELECT ancestors.recording, forks.parent, ancestors.ts_ns, ancestors.generation + 1
        FROM ancestors
        JOIN forks ON forks.recording = ancestors.recording AND forks.pid = ancestors.pid
        CROSS JOIN constants
        WHERE ancestors.generation < constants.most_generations
    )
SELECT
    recording, -- recording
    pid, -- process
    ts_ns -- [ns] when
FROM events
WHERE kind = 'io_open'
    AND regexp_matches(path, 'torchinductor|[./]triton/|jax_cache|xla_cache|/\.nv/ComputeCache|\.cubin$')
    AND NOT regexp_matches(path, '/(site|dist)-packages/')
UNION ALL
SELECT recording, pid, ts_ns
FROM _rare_events
WHERE kind = 'cuda_graph' AND (name LIKE '%EndCapture%' OR name LIKE '%GraphInstantiate%')
UNION ALL
SELECT recording, pid, ts_ns
FROM ancestors
WHERE generation > 0
