-- Moments in which a process compiles for the GPU.
--
-- It opens a cache of compiled kernels, or captures a CUDA graph. The caches are those of TorchInductor, Triton, JAX
-- and the driver; the packages of these are none.
--
-- needs: events, _rare_events
CREATE TABLE _compiles AS
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
