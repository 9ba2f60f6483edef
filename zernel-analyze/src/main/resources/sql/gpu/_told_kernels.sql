-- How long GPUs ran kernels whose names tell that other ones would do: see the macro `kernel_sort`.
--
-- Of kernels that a compiler has made, such as Triton's, a name does not tell.
--
-- needs: gpu_activity, _gpu_scopes, gpu_time, step_mean
CREATE TABLE _told_kernels AS
WITH
    kernels AS (
        SELECT recording, pid, device, name, start_ns, end_ns, kernel_sort(name) AS sort
        FROM gpu_activity
        WHERE work = 'compute'
    ),
    clipped AS (
        SELECT
            kernels.recording,
            kernels.pid,
            kernels.device,
            kernels.sort,
            kernels.name,
            least(kernels.end_ns, coalesce(scopes.end_ns, kernels.end_ns))
                - greatest(kernels.start_ns, coalesce(scopes.start_ns, kernels.start_ns)) AS dur_ns
        FROM kernels
        LEFT JOIN _gpu_scopes AS scopes ON scopes.recording = kernels.recording AND scopes.pid = kernels.pid
        WHERE kernels.sort IS NOT NULL
    ),
    names AS (
        SELECT recording, pid, device, sort, name, count(*) AS runs, sum(dur_ns) AS sum_ns
        FROM clipped
        WHERE dur_ns > 0
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            recording,
            pid,
            device,
            sort,
            sum(runs) AS runs,
            sum(sum_ns) AS sum_ns,
            arg_max(name, (sum_ns, name)) AS kernel
        FROM names
        GROUP BY recording, pid, device, sort
    ),
    means AS (
        SELECT recording, pid, arg_max({'tid': tid, 'steps': steps, 'step_ns': step_ns}, (steps, tid)) AS mean
        FROM step_mean
        GROUP BY recording, pid
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    means.mean.tid AS tid, -- its training thread; NULL without steps
    coalesce(means.mean.steps, 0) AS steps, -- steps of kind train
    coalesce(means.mean.step_ns, times.profiled_ns) AS step_ns, -- [ns] mean step, or all that was profiled
    sums.device, -- GPU, of several of a process the one that runs them longest
    sums.sort, -- float32, float64 or layout
    CAST(sums.runs AS BIGINT) AS runs, -- kernels
    sums.kernel, -- the one that takes most of the time
    least(sums.sum_ns, times.compute_ns) / times.profiled_ns AS share, -- of the time that was profiled, in them
    times.busy_share, -- of it, in any kernel
    times.idle_share -- of it, in which nothing ran
FROM sums
JOIN gpu_time AS times
    ON times.recording = sums.recording
    AND times.pid = sums.pid
    AND times.device = sums.device
LEFT JOIN means ON means.recording = sums.recording AND means.pid = sums.pid
QUALIFY row_number() OVER (
    PARTITION BY sums.recording, sums.pid, sums.sort
    ORDER BY sums.sum_ns / times.profiled_ns DESC, sums.device
) = 1
