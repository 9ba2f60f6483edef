-- Loading waits for storage. Most of the time in which data is loaded goes by in read calls.
--
-- With workers, that is their share of active time (not waiting for work) inside reads and faults on mapped files, and
-- the whole wait is lost: they would be ready in time. Without workers, it is the time in reads inside `__next__`, and
-- so much of the wait is lost. At most as much is lost as the GPU is idle by the driver's samples.
-- Does not apply to files in the page cache, which read fast, nor to reads through libraries that do not use system
-- calls (an object store's client waits on a socket), nor to one late rank of several (nccl_straggler).
--
-- needs: data_wait_causes
-- severity: high from 25 % of step time, medium from 10 %
-- hint: a second recording with a warm page cache tells storage from decoding
-- lines: the reading WHERE loads AND state = 'storage'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.05 AS min_share -- what can be saved, as a share of step time
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    data_ns AS part_ns, -- [ns] shown as share of step time spent waiting
    step_ns, -- [ns] step
    lost_ns, -- [ns] wait per step, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when no wait is left
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    format('mean of {} steps: {} waiting of {}; ', steps, ms(data_ns), ms(step_ns))
        || format('{} of loading is reading', pct(reading))
        || CASE
            WHEN loads_in_process THEN ' inside __next__'
            ELSE format(' in {} workers, {}/s while reading', at_once, size(coalesce(bytes_per_s, 0)))
        END
        || idle_text(idle_ns, lost_ns, least_idle_ns, bound_ns) AS evidence, -- what it rests on
    'pack small files into large ones, keep them on faster storage or in memory, or read ahead (prefetch_factor)'
        AS advice, -- what to try
    'zernel-analyze sql {} "FROM reads_by_file"' AS next_command -- to see more
FROM data_wait_causes
CROSS JOIN thresholds
WHERE cause = 'storage' AND steps >= min_steps AND lost_ns >= min_share * step_ns
