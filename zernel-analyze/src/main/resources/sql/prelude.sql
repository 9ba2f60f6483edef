-- What every view and finding may use. Most macros turn numbers into text; arithmetic stays in nanoseconds and bytes.
--
-- Views that read several kinds of `events` say `(kind IN (...)) IS TRUE`: DuckDB then drops other rows while it reads.
-- A bare IN it only holds against the statistics of row groups, and decodes all columns of all rows. Views of kinds
-- that have no row groups of their own say both.

-- What was opened, and what recordings say of themselves, as JSON.
CREATE TABLE files (recording BIGINT, side BIGINT, path VARCHAR, state VARCHAR, rows BIGINT, note VARCHAR);
CREATE TABLE footer (recording BIGINT, key VARCHAR, value VARCHAR);
-- Digests that were left out: damaged, foreign, duplicate or newer, and why.
CREATE TABLE unread_files (path VARCHAR, state VARCHAR, why VARCHAR);

-- What a training thread is doing. A byte for each piece of its time, where text would take sixteen.
CREATE TYPE step_part AS ENUM (
    'data_wait', 'worker_start', 'forward', 'evaluation', 'backward', 'compute', 'gpu_wait', 'collective',
    'optimizer_step', 'zero_grad', 'unknown'
);

-- Kinds of `_rare_events`: calls of which a step has few. Those that it has many of are read where they are asked for.
CREATE TYPE rare_kind AS ENUM (
    'region', 'backward', 'dist_wait', 'nccl', 'nccl_comm', 'cuda_sync', 'cuda_copy', 'cuda_graph', 'gpu_alloc',
    'gpu_free', 'gpu_map'
);

-- The role that a region has by its name: `zernel.data_wait`, with anything behind (`zernel.step#train`).
CREATE MACRO region_role(name) AS nullif(
    regexp_extract(name, '^zernel\.(step|data_wait|compute|sync|collective|optimizer|checkpoint)([^a-z_].*)?$', 1), '');

-- The name of a step without what only that step has: its number, or the sizes of what a server of models ran in it.
CREATE MACRO step_name(name) AS
    regexp_replace(name, '(_(\d+_)?context_\d.*|_diffusion_\d.*|\[.*|[ _#:-]*\d+)$', '');

-- Whether a region of a profiler's trace is one that a program has named itself, and none of PyTorch's own.
CREATE MACRO is_own_range(kind, name, role) AS kind = 'region'
    AND role IS NULL
    AND NOT regexp_matches(
        name,
        '^(ProfilerStep#|Optimizer\.|enumerate\(|DistributedDataParallel\.|FullyShardedDataParallel\.|FSDP::|## '
            || '|gloo:|mpi:|nccl:)'
    );

-- Whether a function of Python in a profiler's trace is neither PyTorch's, nor of Python's own library, nor built in.
-- The profiler names files from a folder of modules on.
CREATE MACRO is_own_function(name) AS NOT regexp_matches(
    name,
    '^(torch|torchvision|torchaudio|functorch|triton|asyncio|collections|concurrent|importlib|json|logging'
        || '|multiprocessing)/|(site|dist)-packages/torch/|/lib/python3[^/]*/\w+(/\w+)?\.py|/torchinductor_'
        || '|^<|^(_weakrefset|abc|contextlib|copy|copyreg|enum|functools|genericpath|inspect|linecache|os|pickle'
        || '|posixpath|queue|random|re|runpy|selectors|socket|subprocess|tempfile|threading|traceback|typing|warnings'
        || '|weakref)\.py'
);

-- Whether a function of Python in a profiler's trace is activation checkpointing, which computes a forward pass again.
CREATE MACRO is_checkpoint(name) AS starts_with(name, 'torch/utils/checkpoint.py');

-- The same for PyTorch's compiler and what it has made, and for the operators whose time is compiling.
CREATE MACRO is_compiler(name) AS regexp_matches(name, '/torchinductor_|^torch/(_inductor|_functorch|_dynamo)/');
CREATE MACRO is_compiling(operator) AS regexp_matches(operator, '^(dynamo|entire_frame_compile)$|\(dynamo_timed\)$');

-- Whether an operator of a backward pass does nothing else that takes long than to run Python: what accumulates a
-- gradient calls hooks, and a function of autograd is written in Python if it is in no namespace and its name does not
-- end in a number. Those of checkpoints and the compiler run operators of the forward pass again, and what was compiled.
CREATE MACRO runs_python(operator) AS regexp_matches(
    operator,
    '^(autograd::engine::evaluate_function: )?(torch::autograd::AccumulateGrad|[^:]+Backward)$'
) AND NOT regexp_matches(operator, '(Checkpoint|Compiled)FunctionBackward$');

-- Whether a call is the outermost of its kind in its thread. With the time it is a condition on two columns, which
-- DuckDB tries only on rows of the right kind; on `depth` alone it would be tried on all rows, at four times the cost.
CREATE MACRO outermost(depth, ts_ns) AS coalesce(depth, ts_ns * 0) = 0;

-- Quantiles of durations over all rows of a group: exact, or of a histogram where `histogram.sql` takes its place.
CREATE MACRO quantiles(ns, shares) AS quantile_cont(ns, shares);

-- By how much they may be wrong, as a share of their value.
CREATE MACRO quantile_error() AS 0.0::DOUBLE;

-- What the duration of an event is: blocked, enqueue, off-cpu, gpu or wall. A copy is blocked where it waits.
CREATE MACRO duration_of(kind, waits) AS CASE
    WHEN kind IN ('wait', 'io', 'cuda_sync', 'dist_wait') OR (kind = 'cuda_copy' AND waits) THEN 'blocked'
    WHEN kind IN ('cuda_copy', 'cuda_launch', 'cuda_graph', 'nccl') THEN 'enqueue'
    WHEN kind = 'sched' THEN 'off-cpu'
    WHEN kind IN ('gpu_kernel', 'gpu_memcpy', 'gpu_memset') THEN 'gpu'
    ELSE 'wall'
END;

-- Whether an operator of PyTorch hands values of a tensor to the program, which so has to wait for them.
CREATE MACRO is_tensor_read(operator) AS operator IN (
    'aten::item', 'aten::_local_scalar_dense', 'aten::is_nonzero', 'aten::nonzero', 'aten::masked_select', 'aten::equal'
);

-- What the name of a kernel of cuBLAS, cuDNN or CUTLASS (CUDA 11 to 13) tells: that it multiplies matrices of float32
-- without tensor cores (`float32`) or of float64, or converts tensors between memory formats (`layout`); NULL for any
-- other. `s1688gemm` and `tf32f32` use tensor cores, `sgemm` and `f32f32_f32f32_f32` do not.
CREATE MACRO kernel_sort(kernel) AS CASE
    WHEN regexp_matches(kernel, '(^|[^a-z0-9])(d(884)?gemm|gemmSN_[NT]+_kernel<double)|f64f64_f64f64') THEN 'float64'
    WHEN regexp_matches(
        kernel,
        '(^|[^a-z0-9])(s(gemm|cudnn)(_|$)|gemmSN_[NT]+_kernel<float)|convolve_sgemm<float|winograd\w*<float'
            || '|f32f32_f32f32_f32'
    ) AND NOT regexp_matches(kernel, 'fp16|bf16|half|bfloat16', 'i') THEN 'float32'
    WHEN regexp_matches(kernel, 'nchwToNhwc|nhwcToNchw') THEN 'layout'
END;

-- Whether an event of kind `io` is a read, and no write, flush or renaming.
CREATE MACRO is_read(name) AS name IN (
    'read', 'pread64', 'readv', 'preadv', 'preadv2', 'page_fault',
    'io_uring_read', 'io_uring_readv', 'io_uring_read_fixed'
);

-- Whether a `wait` is one for a lock or until something is ready, as that of an idle worker for its next order; and no
-- sleep, nor for a socket or another process.
CREATE MACRO is_idle(name) AS name IN (
    'futex', 'futex_waitv', 'poll', 'ppoll', 'select', 'pselect6', 'epoll_wait', 'epoll_pwait', 'epoll_pwait2'
);

-- What a thread that is blocked in a system call waits for, by the call and what that is about; `on_storage` where the
-- scheduler says so.
CREATE MACRO waits_for(kind, name, object, on_storage) AS CASE
    WHEN object LIKE 'pipe:%' THEN 'pipe'
    WHEN object LIKE 'socket:%' THEN 'socket'
    WHEN kind IN ('io', 'io_open') OR on_storage THEN 'storage'
    WHEN object = 'futex' OR name LIKE 'futex%' THEN 'thread'
    WHEN name LIKE 'wait%' THEN 'process'
    WHEN name LIKE '%nanosleep' OR name = 'pause' THEN 'asleep'
    WHEN regexp_matches(name, '^(recv|send|accept|connect)') THEN 'socket'
    WHEN regexp_matches(name, 'flock|fcntl|sem|msg|mq_') THEN 'process'
    WHEN regexp_matches(name, 'poll|select') AND object IS NULL THEN 'asleep'
    ELSE 'unexplained'
END;

-- Whether a thread that is blocked in a part of a step waits for a process that is no data worker.
CREATE MACRO is_blocked_on_process(part, state) AS
    state IN ('pipe', 'socket', 'process') AND part NOT IN ('data_wait', 'worker_start');

-- Whether a frame of Python is one of its import system, by the file; NULL where that is not known.
CREATE MACRO is_import(file) AS file LIKE '%importlib._bootstrap%';

-- Whether a function of Python does no more than call another: local ones of decorators, the call of a module.
CREATE MACRO is_wrapper(function) AS regexp_matches(
    function, '<locals>|<(lambda|listcomp|genexpr|dictcomp|setcomp)>$|(^|\.)(_wrapped_call_impl|_call_impl)$'
);

-- Whether a function that a line calls has so much of its time that it says what takes it.
CREATE MACRO is_most(part, whole) AS part >= 0.6 * whole;

-- Whether a function does nothing but call what it was made of, as transforms: then one of these says what takes long.
CREATE MACRO _only_calls_parts(called) AS
    regexp_matches(called, '^(Compose|Pipeline|ColumnTransformer|FeatureUnion)\.');

-- How long time buckets are by which spans of time are found: 2^bits ns, at most half a short span, or `least`. Then a
-- span has few of them, and few spans are in one, which would each be tried for every point there.
CREATE MACRO bucket_bits(span_ns, least) AS coalesce(greatest(CAST(floor(log2(span_ns)) AS BIGINT) - 1, least), least);

-- Points in time that lie within spans of time of their process: a row for each point and span, with columns of both.
--
-- Of relations `points (recording, pid, at_ns, ...)` and `spans (recording, pid, from_ns, until_ns, ...)`; `until_ns`
-- is no part of a span. They are joined by the time buckets of 4 ms or more that both are in: to join by time alone, as
-- ASOF does, sorts all points.
CREATE MACRO in_spans(points, spans) AS TABLE
    WITH
        _short_spans AS (
            SELECT quantile_cont(until_ns - from_ns, 0.1) AS span_ns
            FROM query_table(spans)
            WHERE until_ns > from_ns
            GROUP BY recording, pid
        ),
        _bucket_size AS (
            SELECT bucket_bits(min(span_ns), 22) AS bits
            FROM _short_spans
        )
    SELECT spanned.* EXCLUDE (bucket, bits), placed.* EXCLUDE (recording, pid, bucket)
    FROM (SELECT *, at_ns >> (SELECT bits FROM _bucket_size) AS bucket FROM query_table(points)) AS placed
    JOIN (
        SELECT *, unnest(range(from_ns >> bits, ((until_ns - 1) >> bits) + 1)) AS bucket
        FROM query_table(spans)
        CROSS JOIN _bucket_size
    ) AS spanned
        ON spanned.recording = placed.recording
        AND spanned.pid = placed.pid
        AND spanned.bucket = placed.bucket
    WHERE placed.at_ns >= spanned.from_ns AND placed.at_ns < spanned.until_ns;

-- Stacks as a tree: a row for each place, which is a frame below the same frames, and each state.
--
-- Of a relation `paths (frames, state, total_ns)`, the outermost frame first. Places that hold less than a
-- two-hundredth of all time are left out, those of Python's import system, and of a deep stack what is inside the 80th
-- frame. `node` is the number of a place, above that of its `parent`, which is NULL for a root.
CREATE MACRO stack_tree(paths) AS TABLE
    WITH
        _cut AS (
            SELECT
                list_slice(list_filter(frames, lambda frame: frame NOT LIKE '%(<frozen importlib.%'), 1, 80) AS frames,
                state,
                total_ns
            FROM query_table(paths)
        ),
        _depths AS (
            SELECT frames, state, total_ns, unnest(range(1, len(frames) + 1)) AS depth
            FROM _cut
        ),
        _places AS (
            SELECT
                hash(list_slice(frames, 1, depth)) AS place,
                CASE WHEN depth > 1 THEN hash(list_slice(frames, 1, depth - 1)) END AS above,
                depth,
                frames[depth] AS frame,
                state,
                sum(total_ns) AS total_ns
            FROM _depths
            GROUP BY ALL
        ),
        _sums AS (
            SELECT place, above, depth, frame, sum(total_ns) AS all_ns
            FROM _places
            GROUP BY ALL
        ),
        _numbers AS (
            SELECT place, row_number() OVER (ORDER BY depth, all_ns DESC, frame, above) AS node
            FROM _sums
            WHERE all_ns >= 0.005 * (SELECT sum(total_ns) FROM _cut)
        )
    SELECT numbers.node, parents.node AS parent, places.frame, places.state, places.total_ns
    FROM _places AS places
    JOIN _numbers AS numbers ON numbers.place = places.place
    LEFT JOIN _numbers AS parents ON parents.place = places.above;

-- Nanoseconds as text in milliseconds: 12345678 -> '12.3 ms'.
CREATE MACRO ms(ns) AS format('{:.1f} ms', ns / 1e6);

-- The same, and below a millisecond in microseconds: 123456 -> '123 us'.
CREATE MACRO us_or_ms(ns) AS CASE WHEN ns < 1e6 THEN format('{:.0f} us', ns / 1e3) ELSE ms(ns) END;

-- Bytes as text in the unit that fits, decimal as in the rest of a report: 65536 -> '65.5 kB'.
CREATE MACRO size(bytes) AS CASE
    WHEN bytes >= 1e9 THEN format('{:.2f} GB', bytes / 1e9)
    WHEN bytes >= 1e6 THEN format('{:.1f} MB', bytes / 1e6)
    WHEN bytes >= 1e3 THEN format('{:.1f} kB', bytes / 1e3)
    ELSE format('{:.0f} B', CAST(bytes AS DOUBLE))
END;

-- How many steps a mean is of, in words.
CREATE MACRO mean_of(steps) AS CASE WHEN steps = 1 THEN 'the only step' ELSE format('mean of {} steps', steps) END;

-- A share as text: 0.314 -> '31 %'.
CREATE MACRO pct(share) AS format('{:.0f} %', 100.0 * share);

-- A small share as text, with a digit after the point below a tenth: 0.0123 -> '1.2 %'.
CREATE MACRO share_text(share) AS
    CASE WHEN abs(share) < 0.0995 THEN format('{:.1f} %', 100.0 * share) ELSE pct(share) END;

-- The 97.5 % quantile of Student's t, by degrees of freedom; beyond ten, 1.96 (1 + 1.3 / freedom) is within 1 %.
CREATE MACRO student_t(freedom) AS coalesce(
    [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23][CAST(freedom AS BIGINT)],
    1.96 * (1 + 1.3 / freedom));

-- Of several recordings the one meant, before what is in it: by its machine where each is of another one, else by
-- number.
CREATE MACRO recording_label(recording_index) AS getvariable('recording_labels')[recording_index];

-- A thread by its process; the recording is named only where there are several.
CREATE MACRO _process_label(recording, pid, tid) AS
    recording_label(recording)
    || CASE WHEN pid = tid THEN format('pid {}', pid) ELSE format('pid {} tid {}', pid, tid) END;

-- A thread as the subject of a finding: by the rank that its process was started with, if it was, and its process.
CREATE MACRO thread_label(recording, pid, tid) AS coalesce(
    format('rank {} ({})', getvariable('ranks')[recording][pid], _process_label(recording, pid, tid)),
    _process_label(recording, pid, tid)
);

-- Ranks in a sentence, from a list in their order: all of a dozen, of more the first eight.
CREATE MACRO listed(ranks) AS CASE
    WHEN len(ranks) <= 12 THEN array_to_string(ranks, ', ')
    ELSE format('{} and {:,} more', array_to_string(ranks[1:8], ', '), len(ranks) - 8)
END;

-- What data workers did, as text: '2 workers: 10 % waiting for an index, 80 % blocked elsewhere, ...'.
CREATE MACRO _workers_text(workers, waiting, blocked, reading, on_cpu, copying) AS
    format('{} worker{}: {} waiting for an index, {} blocked elsewhere, {} in reads, at most {} on the CPU',
        workers, CASE WHEN workers = 1 THEN '' ELSE 's' END, pct(waiting), pct(blocked), pct(reading), pct(on_cpu))
    || CASE WHEN copying >= 0.01 THEN format(', {} of all copying files that are in memory', pct(copying)) ELSE '' END;

-- Whether a file is a library of OpenMP, in which a thread waits for those of its pool on the CPU.
CREATE MACRO _is_openmp(file) AS coalesce(regexp_matches(file, '^lib(gomp|iomp|omp)'), FALSE);

-- What a thread waits for those of its pool that have no CPU, as text; nothing below a hundredth of a step.
CREATE MACRO _pool_text(pool_ns, step_ns) AS CASE
    WHEN pool_ns >= 0.01 * step_ns
        THEN format('in {} more it has a CPU and waits there for threads of its pool that have none; ', ms(pool_ns))
    ELSE ''
END;

-- Whether reads of files copy what is in memory, which is work on a CPU, by how long they are blocked.
CREATE MACRO _copies(blocked_ns, read_ns) AS blocked_ns < 0.2 * read_ns;

-- [ns] What getting a batch from a worker is assumed to take at least.
CREATE MACRO _hand_over_ns() AS 300000;

-- CPUs that a job could have and nothing uses, as text that says whether they were measured.
CREATE MACRO _cpus_text(idle, cpus, measured) AS CASE
    WHEN measured THEN format('; {:.1f} of {} CPUs were idle', idle, cpus)
    WHEN cpus IS NULL THEN ''
    ELSE format('; the job leaves {:.1f} of {} CPUs (what else uses them was not measured)', idle, cpus)
END;

-- The command line's name of a recording, quoted where a shell needs it.
CREATE MACRO file_label(recording_index) AS (
    SELECT CASE
        WHEN regexp_matches(path, '^[\w./+-]+$') THEN path
        ELSE '''' || replace(path, '''', '''\''''') || ''''
    END
    FROM files
    WHERE files.recording = recording_index
);

-- What is lost at least where it is at most as the GPU is idle; `least_idle_ns` is NULL where samples or a trace tell.
CREATE MACRO least_lost(lost_ns, least_idle_ns) AS least(lost_ns, coalesce(least_idle_ns, lost_ns));

-- What it means for the loss that use of the GPU was not sampled, as evidence; empty where it was.
CREATE MACRO unsampled_text(lost_ns, least_idle_ns, most_ns) AS CASE
    WHEN least_idle_ns IS NULL THEN ''
    ELSE format('GPU use was not sampled, so between {} and {} are lost; ',
        ms(least_lost(lost_ns, least_idle_ns)), ms(most_ns))
END;

-- How idle the GPU is, as evidence; without samples, what that makes of the loss.
CREATE MACRO idle_text(idle_ns, lost_ns, least_idle_ns, most_ns) AS CASE
    WHEN idle_ns IS NULL THEN ''
    WHEN least_idle_ns IS NULL THEN format('; the GPU is idle for {}', ms(idle_ns))
    ELSE '; ' || rtrim(unsampled_text(lost_ns, least_idle_ns, most_ns), '; ')
END;

-- Whether a sample is of the kernel in a page fault, or in mmap, mprotect, munmap, brk, mremap or madvise.
CREATE MACRO is_for_memory(kernel_entry) AS kernel_entry IN (-1, 9, 10, 11, 12, 25, 28);

-- How bad a share of lost time is.
CREATE MACRO severity_of(share) AS CASE WHEN share >= 0.25 THEN 'high' WHEN share >= 0.1 THEN 'medium' ELSE 'low' END;

-- Milliseconds as they stand in an equation, with four digits of the whole that they are a part of: (22912345,
-- 10481234) -> 10.48. The equation then holds for the numbers that are printed.
CREATE MACRO _digits(total_ns, part_ns) AS
    round(part_ns / 1e6, CAST(greatest(1, 3 - floor(log10(greatest(total_ns, 1) / 1e6))) AS INTEGER));

-- Amdahl's bound: how much faster a step gets without what it loses. NULL where nothing of the step would be left.
CREATE MACRO speedup(total_ns, lost_ns) AS CASE
    WHEN _digits(total_ns, lost_ns) < _digits(total_ns, total_ns)
        THEN round(_digits(total_ns, total_ns) / (_digits(total_ns, total_ns) - _digits(total_ns, lost_ns)), 2)
END;

-- Amdahl's bound as arithmetic that a reader can check: 'saves at most 15.0 ms: 50.0 / (50.0 - 15.0) = 1.43x'.
CREATE MACRO bound_text(total_ns, lost_ns) AS coalesce(
    format('saves at most {} ms: {} / ({} - {}) = {:.2f}x',
        _digits(total_ns, lost_ns), _digits(total_ns, total_ns), _digits(total_ns, total_ns),
        _digits(total_ns, lost_ns), speedup(total_ns, lost_ns)),
    format('saves at most all of {} ms', _digits(total_ns, total_ns)));

-- P(Z > z) of a standard normal variable, z >= 0, to 1e-7 (Abramowitz and Stegun 26.2.17).
CREATE MACRO _normal_tail(z) AS
    exp(-z * z / 2) / sqrt(2 * pi()) * (
        0.319381530 / (1 + 0.2316419 * z)
        - 0.356563782 / pow(1 + 0.2316419 * z, 2)
        + 1.781477937 / pow(1 + 0.2316419 * z, 3)
        - 1.821255978 / pow(1 + 0.2316419 * z, 4)
        + 1.330274429 / pow(1 + 0.2316419 * z, 5));

-- The element of a sorted list at a share of its length, the first or last where the share is outside 0 to 1.
CREATE MACRO _quantile(sorted, share) AS
    sorted[CAST(least(len(sorted), greatest(1, round(share * len(sorted) + 0.5))) AS BIGINT)];
