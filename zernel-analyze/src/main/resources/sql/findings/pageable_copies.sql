-- Copies to the GPU come from pageable memory. Such a call copies through a buffer of the driver before it returns.
--
-- A call first waits for what its stream has to do, which is not lost; the copy itself is taken to run at the best rate
-- that the process reached. From pinned memory the call returns at once, and the copy is work of the GPU like its
-- kernels. So lost is the time of the copies, at most what the GPU is idle by the driver's samples less the time of the
-- same bytes from pinned memory; without samples it is the difference of the two. Where samples are few, what the GPU
-- is idle is a range, and so is what is lost. While a copy runs, its stream has nothing else to do: of a range that
-- begins below that, the middle of what is left counts. Without the waits the program could be ahead of the GPU, which
-- hides other stalls: the bound is what both take, at most the copies and what the GPU is idle.
-- From pinned memory copies are as fast as the link, the slowest of the machine's GPUs. Where the driver did not say
-- what link that is, it is assumed, by whether the GPU has hardware counters as Hopper and newer ones have.
-- Does not apply where the host memory's kind is unknown, because it was allocated before recording began.
--
-- needs: events, _rare_events, step_work, _step_spans, gpu_busy, gpus, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: pin_memory alone does not help without non_blocking
-- lines: the copies WHERE kind = 'cuda_copy' AND thread = 'training'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.02 AS min_share, -- what can be saved, as a share of step time
            65536 AS min_bytes, -- [bytes] smaller copies are buffered at once
            2.0 AS min_rate, -- [bytes/ns] a pageable copy is not slower
            0.85 AS efficiency, -- share of a link's rate at which large copies from pinned memory run
            4 AS generation, -- of PCIe, where the link is not known
            5 AS counting_generation, -- the same, where the GPU has hardware counters
            16 AS lanes -- of the link, where it is not known
    ),
    calls AS (
        SELECT recording, pid, tid AS caller, ts_ns AS at_ns, dur_ns, bytes
        FROM _rare_events
        CROSS JOIN thresholds
        WHERE pageable
            AND bytes >= thresholds.min_bytes
            AND dur_ns > 0
    ),
    rates AS (
        SELECT
            calls.recording,
            calls.pid,
            greatest(quantile_cont(calls.bytes / calls.dur_ns, 0.99), any_value(thresholds.min_rate)) AS rate
        FROM calls
        CROSS JOIN thresholds
        GROUP BY calls.recording, calls.pid
    ),
    copied AS (
        SELECT
            calls.recording,
            calls.pid,
            any_value(rates.rate) AS rate,
            count(*) AS copies,
            sum(least(calls.dur_ns, calls.bytes / rates.rate)) AS copy_ns,
            sum(calls.dur_ns) AS blocked_ns,
            sum(calls.bytes) AS bytes
        FROM in_spans(calls, _step_spans) AS calls
        JOIN rates ON rates.recording = calls.recording AND rates.pid = calls.pid
        WHERE calls.caller = calls.tid AND calls.trains
        GROUP BY ALL
    ),
    -- A lane carries 2.5 and 5 GT/s in 10 bits a byte; from generation 3 on 8 GT/s and more, in 130 bits for 16 bytes.
    links AS (
        SELECT
            named.*,
            thresholds.efficiency * named.lanes * CASE
                WHEN named.generation <= 2 THEN 0.25 * named.generation
                ELSE 128 / 130 * 2 ** (named.generation - 3)
            END AS rate
        FROM (
            SELECT
                files.recording,
                known.recording IS NOT NULL AS known,
                coalesce(
                    known.generation,
                    CASE
                        WHEN counting.recording IS NULL THEN thresholds.generation
                        ELSE thresholds.counting_generation
                    END
                ) AS generation,
                coalesce(known.lanes, thresholds.lanes) AS lanes
            FROM files
            CROSS JOIN thresholds
            LEFT JOIN (
                SELECT
                    recording,
                    arg_min(pcie_generation, 2 ** pcie_generation * pcie_width) AS generation,
                    arg_min(pcie_width, 2 ** pcie_generation * pcie_width) AS lanes
                FROM gpus
                WHERE pcie_generation > 0 AND pcie_width > 0
                GROUP BY recording
            ) AS known ON known.recording = files.recording
            LEFT JOIN (
                SELECT DISTINCT recording
                FROM events
                WHERE kind = 'gpu_sample' AND name = 'sm_active'
            ) AS counting ON counting.recording = files.recording
        ) AS named
        CROSS JOIN thresholds
    ),
    work AS (
        SELECT recording, pid, any_value(tid) AS tid, count(*) AS steps, avg(dur_ns) AS step_ns
        FROM step_work
        WHERE step_kind = 'train'
        GROUP BY recording, pid
    ),
    copying AS (
        SELECT
            work.recording,
            work.pid,
            work.tid,
            work.steps,
            work.step_ns,
            copied.rate,
            copied.copies / work.steps AS copies,
            copied.bytes / work.steps AS bytes,
            copied.copy_ns / work.steps AS copy_ns,
            copied.blocked_ns / work.steps AS blocked_ns,
            copied.bytes / work.steps / links.rate AS pinned_ns,
            format('{} PCIe {} x{}', CASE WHEN links.known THEN 'the link is' ELSE 'assumed:' END,
                links.generation, links.lanes) AS link,
            CASE
                WHEN busy.idle_ns >= copied.copy_ns / work.steps
                    THEN greatest(busy.idle_ns, (copied.copy_ns / work.steps + busy.most_idle_ns) / 2)
                ELSE busy.idle_ns
            END AS idle_ns,
            least(
                greatest((1 - busy.most_train_busy) * work.step_ns, copied.copy_ns / work.steps),
                busy.idle_ns
            ) AS least_idle_ns,
            busy.most_idle_ns
        FROM copied
        JOIN work ON work.recording = copied.recording AND work.pid = copied.pid
        JOIN links ON links.recording = work.recording
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
    ),
    costs AS (
        SELECT
            *,
            least(coalesce(idle_ns, copy_ns) - pinned_ns, copy_ns) AS lost_ns,
            greatest(least(least_idle_ns - pinned_ns, copy_ns), 0) AS least_ns,
            least(most_idle_ns - pinned_ns, blocked_ns) AS most_ns,
            least(blocked_ns, most_idle_ns + copy_ns) AS bound_ns
        FROM copying
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that copies
    round(bytes / 1e6, 1) AS value, -- megabytes per step
    'MB per step' AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] beyond what pinned memory would take
    bound_ns, -- [ns] saved at most, when they cost nothing
    format('mean of {} steps: {:.1f} copies from pageable memory, {}, block for {}; ',
        steps, copies, size(bytes), ms(blocked_ns))
        || format('at {:.1f} GB/s they take {} of it, from pinned memory {} ({}); ',
            rate, ms(copy_ns), ms(pinned_ns), link)
        || CASE
            WHEN idle_ns IS NULL OR least_ns >= copy_ns THEN ''
            WHEN ms(least_idle_ns) = ms(most_idle_ns) THEN format('the GPU is idle for {} of a step; ', ms(idle_ns))
            ELSE format('the GPU is idle for {} to {} of a step, so between {} and {} are lost; ',
                ms(least_idle_ns), ms(most_idle_ns), ms(least_ns), ms(most_ns))
        END AS evidence, -- what it rests on
    'DataLoader(pin_memory=True) and .to(device, non_blocking=True)' AS advice, -- what to try
    'zernel-analyze sql {} "FROM copies"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
