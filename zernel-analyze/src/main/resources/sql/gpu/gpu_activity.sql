-- What ran on GPUs when, by traces of PyTorch's profiler or by CUPTI: kernels, copies and fills.
--
-- Durations are GPU execution time. Communication is known by the names of kernels of NCCL, RCCL and NVSHMEM, and of
-- all-reduces and the like that PyTorch (symmetric memory), vLLM, SGLang, AITER and TensorRT-LLM bring with them; they
-- run from the moment their rank has arrived, so they also wait for the other ranks.
--
-- needs: events, gpu_traces
CREATE VIEW gpu_activity AS
SELECT
    recording, -- recording
    pid, -- process that launched it
    device, -- GPU, as the process counts them
    stream, -- id of the CUDA stream, as the profiler counts them
    name, -- kernel, or what was copied from where to where
    CASE
        WHEN kind IN ('gpu_memcpy', 'gpu_memset') THEN 'copy'
        WHEN NOT regexp_matches(name, 'gemm|matmul|softmax|get_dispatch_layout|^triton_', 'i') AND regexp_matches(
            name,
            'nccl|rccl|nvshmem|mscclpp|deep_ep|cross_device_(reduce|store)|(one|two)_?shot_?all_?(reduce|gather)'
                || '|multimem_\w*(all_?(reduce|gather)|reduce_?scatter)|all_?reduce_?(fusion|kernel|prototype)|lamport',
            'i'
        ) THEN 'communication'
        ELSE 'compute'
    END AS work, -- compute, communication or copy (also fills)
    ts_ns AS start_ns, -- [ns] when it began
    ts_ns + dur_ns AS end_ns, -- [ns] when it ended
    dur_ns, -- [ns] how long the GPU took
    launch_ns, -- [ns] when the call that launched it began; NULL if the trace lacks it
    bytes -- [bytes] size of a copy or fill, or what a rank sends or receives in a collective, if the trace says so
FROM events
WHERE kind IN ('gpu_kernel', 'gpu_memcpy', 'gpu_memset')
    AND (kind IN ('gpu_kernel', 'gpu_memcpy', 'gpu_memset')) IS TRUE
    AND recording IN (SELECT recording FROM gpu_traces)
