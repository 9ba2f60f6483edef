-- Samples of training steps on a CPU: how much is arithmetic of PyTorch's operators, and how much surrounds it.
--
-- By the innermost function of each sample in a step of kind train. Arithmetic is in functions of `at::native`, of MKL,
-- oneDNN and others that compute, and where the thread waits for its pool in OpenMP. Around it is dispatch, autograd's
-- own work, tensors' memory and Python's interpreter. What no function is known of, as code that a library made while
-- it runs, counts as neither. Where many small operators run, more is around them than in them.
--
-- Data types are told by names of functions, so only where these have them: `dgemm` computes in double precision.
-- Operators use one thread where no other thread of OpenMP was seen, and next to no sample of the training thread is in
-- OpenMP, which is called with one thread, too.
--
-- needs: _step_samples, _stack_frames, _operator_frames, _other_threads, host_usage, _process_info
CREATE VIEW operator_samples AS
WITH
    pools AS (
        SELECT DISTINCT frames.id
        FROM _stack_frames AS frames
        WHERE frames.native AND _is_openmp(frames.file)
    ),
    sums AS (
        SELECT
            samples.recording,
            samples.pid,
            samples.tid,
            count(*) AS samples,
            sum(samples.ns) AS ns,
            sum(CASE WHEN frames.computes THEN samples.ns ELSE 0 END) AS arithmetic_ns,
            sum(CASE WHEN frames.surrounds THEN samples.ns ELSE 0 END) AS around_ns,
            sum(CASE WHEN frames.is_unnamed THEN samples.ns ELSE 0 END) AS unnamed_ns,
            sum(CASE WHEN frames.waits THEN samples.ns ELSE 0 END) AS waiting_ns,
            sum(CASE WHEN frames.in_double THEN samples.ns ELSE 0 END) AS double_ns,
            sum(CASE WHEN frames.in_half THEN samples.ns ELSE 0 END) AS half_ns,
            sum(CASE WHEN frames.is_slow AND frames.unfolds THEN samples.ns ELSE 0 END) AS unfolding_ns,
            count(pools.id) AS pooled
        FROM _step_samples AS samples
        JOIN _operator_frames AS frames ON frames.id = samples.id
        LEFT JOIN pools ON pools.id = samples.id
        GROUP BY samples.recording, samples.pid, samples.tid
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.tid, -- training thread
    sums.samples, -- samples
    sums.arithmetic_ns / sums.ns AS arithmetic_share, -- share in the arithmetic of operators, 0 to 1
    sums.around_ns / sums.ns AS around_share, -- share in what surrounds them, 0 to 1
    sums.unnamed_ns / sums.ns AS unnamed_share, -- share in code that has no name, as oneDNN's for convolutions, 0 to 1
    sums.waiting_ns / sums.ns AS waiting_share, -- share of arithmetic_share in which it waits for its pool, 0 to 1
    sums.double_ns / sums.ns AS double_share, -- share that computes in double precision, at least
    sums.half_ns / sums.ns AS half_share, -- share that computes in half precision, at least
    sums.unfolding_ns / sums.ns AS unfolding_share, -- share in one of these that copies for convolutions
    sums.pooled <= 0.01 * sums.samples AND coalesce(others.helpers, 0) = 0
        AS one_thread, -- whether its operators use one thread
    usage.idle_cpus / count(*) OVER (PARTITION BY sums.recording)
        AS idle_cpus, -- mean CPUs that it may use and nothing did, shared by the training threads; NULL if not measured
    info.omp_threads -- OMP_NUM_THREADS that it was started with; NULL without, or if not known
FROM sums
LEFT JOIN _other_threads AS others ON others.recording = sums.recording AND others.pid = sums.pid
LEFT JOIN host_usage AS usage ON usage.recording = sums.recording AND usage.pid = sums.pid
LEFT JOIN (SELECT recording, pid, any_value(omp_threads) AS omp_threads FROM _process_info GROUP BY ALL) AS info
    ON info.recording = sums.recording AND info.pid = sums.pid
ORDER BY sums.recording, sums.pid, sums.tid
