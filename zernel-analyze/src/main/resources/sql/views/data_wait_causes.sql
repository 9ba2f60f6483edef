-- Why training waits for data: one row per training thread.
--
-- Waits for workers that start anew are left to the view worker_starts. The cause of the rest is `few` (busy workers,
-- or none, and idle CPUs), `transform` (busy workers, and no CPU for more), `storage` (what loads is mostly in reads),
-- `idle` (the workers wait too: handing over is slow), `unseen` (no worker was recorded) or `late` (this rank of
-- several is late by as much, see late_ranks). Two CPUs count as taken by each training process, and all of them where
-- workers wait for one; each worker more needs a whole one.
--
-- needs: training_threads, worker_crews, worker_starts, data_wait, gpu_busy, recordings, events, _lateness
CREATE TABLE data_wait_causes AS
WITH
    constants AS (
        SELECT
            0.5 AS idle_share, -- workers are idle from this share of waiting
            0.5 AS reading_share, -- storage is to blame from this share of active time in reads
            0.1 AS crowded_share, -- no CPU is idle when workers are ready without one for this share of their time
            2 AS own_cpus, -- CPUs that a training process keeps busy itself
            0.5 AS late_share -- of what is lost, by which a rank is late
    ),
    threads AS (
        SELECT
            recording,
            pid,
            tid,
            steady_steps AS steps,
            steady_ns / steady_steps AS step_ns,
            steady_data_ns / steady_steps AS data_ns,
            loads_in_process
        FROM training_threads
        WHERE steady_steps > 0 AND batches > 0
    ),
    waits AS (
        SELECT recording, pid, tid, count(*) AS waits, sum(dur_ns) AS wait_ns
        FROM data_wait
        GROUP BY ALL
    ),
    read_calls AS (
        SELECT events.recording, events.pid, events.tid, events.ts_ns, events.dur_ns
        FROM events
        JOIN threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        WHERE events.kind = 'io' AND events.dur_ns IS NOT NULL AND threads.loads_in_process
    ),
    own_reads AS (
        SELECT read_calls.recording, read_calls.pid, read_calls.tid, sum(read_calls.dur_ns) AS read_ns
        FROM read_calls
        ASOF JOIN data_wait
            ON data_wait.recording = read_calls.recording
            AND data_wait.pid = read_calls.pid
            AND data_wait.tid = read_calls.tid
            AND data_wait.start_ns <= read_calls.ts_ns
        WHERE read_calls.ts_ns < data_wait.start_ns + data_wait.dur_ns
        GROUP BY ALL
    ),
    taken_cpus AS (
        SELECT
            threads.recording,
            sum(constants.own_cpus + coalesce(crews.at_once * crews.other_share, 0)) AS cpus,
            max(coalesce(crews.runq_share, 0)) >= any_value(constants.crowded_share) AS crowded
        FROM (SELECT DISTINCT recording, pid FROM threads) AS threads
        CROSS JOIN constants
        LEFT JOIN worker_crews AS crews ON crews.recording = threads.recording AND crews.pid = threads.pid
        GROUP BY threads.recording
    ),
    measured AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            threads.steps,
            threads.step_ns,
            threads.data_ns,
            threads.loads_in_process,
            greatest(threads.data_ns - coalesce(starts.first_ns - starts.usual_ns, 0) / threads.steps, 0) AS rest_ns,
            crews.at_once,
            crews.wait_share,
            crews.io_share,
            crews.other_share,
            CASE
                WHEN threads.loads_in_process THEN own_reads.read_ns / waits.wait_ns
                ELSE crews.io_share / nullif(crews.io_share + crews.other_share, 0)
            END AS reading,
            crews.read_bytes / nullif(crews.window_ns * crews.io_share / 1e9, 0) AS bytes_per_s,
            CASE WHEN taken_cpus.crowded THEN 0 ELSE greatest(recordings.cpus - taken_cpus.cpus, 0) END AS idle_cpus,
            recordings.cpus,
            busy.idle_ns,
            busy.most_idle_ns,
            busy.least_idle_ns,
            late.late_ns
        FROM threads
        JOIN waits ON waits.recording = threads.recording AND waits.pid = threads.pid AND waits.tid = threads.tid
        LEFT JOIN own_reads
            ON own_reads.recording = threads.recording
            AND own_reads.pid = threads.pid
            AND own_reads.tid = threads.tid
        LEFT JOIN worker_starts AS starts
            ON starts.recording = threads.recording
            AND starts.pid = threads.pid
            AND starts.tid = threads.tid
        LEFT JOIN worker_crews AS crews ON crews.recording = threads.recording AND crews.pid = threads.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = threads.recording AND busy.pid = threads.pid
        LEFT JOIN _lateness AS late ON late.recording = threads.recording AND late.pid = threads.pid
        LEFT JOIN recordings ON recordings.recording = threads.recording
        LEFT JOIN taken_cpus ON taken_cpus.recording = threads.recording
    ),
    needs AS (
        SELECT
            measured.*,
            least(
                CASE WHEN loads_in_process AND reading >= reading_share THEN reading * rest_ns ELSE rest_ns END,
                coalesce(idle_ns, rest_ns)
            ) AS lost_ns,
            CASE
                WHEN loads_in_process THEN ceil(data_ns / greatest(step_ns - data_ns, 1))
                ELSE greatest(
                    at_once + 1,
                    ceil(
                        at_once * (io_share + other_share) * step_ns
                            / greatest(step_ns - least(rest_ns, coalesce(idle_ns, rest_ns)), 0.01 * step_ns)
                    )
                )
            END AS workers_needed
        FROM measured
        CROSS JOIN constants
    )
SELECT
    needs.recording, -- recording
    needs.pid, -- process
    needs.tid, -- training thread
    needs.steps, -- steps of kind train
    needs.step_ns, -- [ns] mean step
    needs.data_ns, -- [ns] inside DataLoader __next__, of a mean step
    needs.rest_ns, -- [ns] of it, without the first waits for new workers
    needs.idle_ns, -- [ns] of a mean step in which the GPU had nothing to do; NULL when not known
    needs.least_idle_ns, -- [ns] the same at least, where it was not sampled; NULL where it was
    needs.lost_ns, -- [ns] what a step can lose of its length: the rest of the wait, at most as the GPU is idle
    least(needs.data_ns, coalesce(needs.most_idle_ns, needs.data_ns)) AS bound_ns, -- [ns] the same, at the very most
    CASE
        WHEN late_ns >= constants.late_share * lost_ns THEN 'late'
        WHEN NOT loads_in_process AND at_once IS NULL THEN 'unseen'
        WHEN NOT loads_in_process AND wait_share >= constants.idle_share THEN 'idle'
        WHEN reading >= constants.reading_share THEN 'storage'
        WHEN workers_needed - CASE WHEN loads_in_process THEN 0 ELSE at_once * other_share END <= idle_cpus THEN 'few'
        ELSE 'transform'
    END AS cause, -- few, transform, storage, idle, unseen or late
    needs.loads_in_process, -- whether the thread loads data itself (num_workers=0)
    needs.at_once, -- workers alive at once; NULL when none was seen
    needs.wait_share, -- share of their time blocked in waits, 0 to 1
    needs.io_share, -- share blocked in reads, 0 to 1
    needs.other_share, -- share of the rest: CPU time at most
    needs.reading, -- share of loading that is reading, 0 to 1
    needs.bytes_per_s, -- [bytes] per second of reading
    CAST(needs.workers_needed AS BIGINT) AS workers_needed, -- workers that would keep up
    needs.cpus, -- CPUs of the machine
    CAST(floor(needs.idle_cpus) AS BIGINT) AS idle_cpus -- of them, those that nothing of the job keeps busy
FROM needs
CROSS JOIN constants
ORDER BY needs.recording, needs.pid, needs.tid
