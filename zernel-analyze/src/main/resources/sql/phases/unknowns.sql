-- Questions that only records of GPU activity can answer, with what the events say about each.
--
-- Calls are seen on the CPU: when work is handed to the GPU and when a thread has waited for it, not when it ran.
-- While a thread is blocked for the GPU, the GPU has work; that is the least it was busy. NVML says in which part of
-- its sample periods any kernel ran, of any process. Shares are of the time of the steps, without warm-up.
--
-- Of processes whose GPU was profiled meanwhile, nothing is unknown: see `gpu_time`.
--
-- needs: _syncs, _trained, step_work, gpu_busy, _communication, gpu_traces
-- digest: kept
CREATE VIEW unknowns AS
WITH
    -- Waits of several threads at once count once.
    waits AS (
        SELECT
            _syncs.recording,
            _syncs.pid,
            _syncs.start_ns,
            _syncs.end_ns,
            coalesce(max(_syncs.end_ns) OVER (
                PARTITION BY _syncs.recording, _syncs.pid
                ORDER BY _syncs.start_ns, _syncs.end_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0) AS covered_ns
        FROM _syncs
        JOIN _trained AS spans ON spans.recording = _syncs.recording AND spans.pid = _syncs.pid
        WHERE _syncs.start_ns >= spans.start_ns AND _syncs.end_ns <= spans.end_ns
    ),
    blocked AS (
        SELECT
            recording,
            pid,
            sum(greatest(end_ns - greatest(start_ns, covered_ns), 0)) AS blocked_ns
        FROM waits
        GROUP BY ALL
    ),
    launched AS (
        SELECT recording, pid, avg(launches + graph_launches) AS launches, avg(launch_ns) AS launch_ns
        FROM (
            FROM step_work
            QUALIFY step_kind = 'train' OR NOT bool_or(step_kind = 'train') OVER (PARTITION BY recording, pid)
        )
        GROUP BY ALL
        HAVING sum(launches + graph_launches) > 0
    ),
    busy AS (
        SELECT
            spans.recording,
            spans.pid,
            'how long the GPU is busy' AS question,
            coalesce(blocked.blocked_ns, 0) / (spans.end_ns - spans.start_ns) AS lower_share,
            CASE
                WHEN driver.busy IS NOT NULL
                    THEN greatest(driver.busy, coalesce(blocked.blocked_ns, 0) / (spans.end_ns - spans.start_ns))
            END AS upper_share,
            format('at least {} of the time, in which threads were blocked for it; ',
                pct(coalesce(blocked.blocked_ns, 0) / (spans.end_ns - spans.start_ns)))
                || coalesce(
                    format('NVML: a kernel of any process ran {} of the time', pct(driver.busy)),
                    'no NVML samples of its GPU, so there is no upper bound'
                ) AS bounds
        FROM _trained AS spans
        JOIN launched ON launched.recording = spans.recording AND launched.pid = spans.pid
        LEFT JOIN blocked ON blocked.recording = spans.recording AND blocked.pid = spans.pid
        LEFT JOIN gpu_busy AS driver ON driver.recording = spans.recording AND driver.pid = spans.pid
    ),
    kernels AS (
        SELECT
            recording,
            pid,
            'how long kernels run' AS question,
            CAST(NULL AS DOUBLE) AS lower_share,
            CAST(NULL AS DOUBLE) AS upper_share,
            format('to enqueue the {} of a step takes {}, which says nothing of how long they run',
                CASE
                    WHEN round(launches) = 1 THEN 'one launch'
                    WHEN launches < 1 THEN format('{:.1f} launches', launches)
                    ELSE format('{:.0f} launches', launches)
                END,
                ms(launch_ns)) AS bounds
        FROM launched
    ),
    overlap AS (
        SELECT
            waits.recording,
            waits.pid,
            'how much communication overlaps with compute' AS question,
            waits.exposed_ns / waits.step_ns AS lower_share,
            waits.most_ns / waits.step_ns AS upper_share,
            format('at least {} of a step is not hidden: its threads were blocked for it alone; at most {}: ',
                ms(waits.exposed_ns), ms(waits.most_ns))
                || 'from the first collective to the end of the next wait for the GPU'
                || CASE WHEN work.bytes > 0 THEN format('; {:.1f} MB are sent', work.bytes / 1e6) ELSE '' END AS bounds
        FROM _communication AS waits
        JOIN (
            SELECT recording, pid, avg(collective_bytes) AS bytes
            FROM step_work
            WHERE step_kind <> 'warmup'
            GROUP BY ALL
        ) AS work ON work.recording = waits.recording AND work.pid = waits.pid
        WHERE waits.most_ns > 0 AND NOT waits.on_cpu
    ),
    undriven AS (
        SELECT
            spans.recording,
            spans.pid,
            'what only the driver knows (NVML)' AS question,
            CAST(NULL AS DOUBLE) AS lower_share,
            CAST(NULL AS DOUBLE) AS upper_share,
            'not looked for: a throttled, shared or slower GPU, and one whose memory is nearly full; '
                || 'what waits cost is a range' AS bounds
        FROM _trained AS spans
        JOIN launched ON launched.recording = spans.recording AND launched.pid = spans.pid
        JOIN gpu_busy AS driver ON driver.recording = spans.recording AND driver.pid = spans.pid
        WHERE driver.samples IS NULL
    ),
    questions AS (
        SELECT recording, pid, 1 AS number, question, lower_share, upper_share, bounds
        FROM busy
        UNION ALL
        SELECT recording, pid, 2, question, lower_share, upper_share, bounds
        FROM kernels
        UNION ALL
        SELECT recording, pid, 3, question, lower_share, upper_share, bounds
        FROM overlap
        UNION ALL
        SELECT recording, pid, 4, question, lower_share, upper_share, bounds
        FROM undriven
    )
SELECT
    recording, -- recording
    pid, -- process
    question, -- what cannot be known
    lower_share, -- share of the time that it is at least, 0 to 1; NULL when there is no bound
    upper_share, -- share of the time that it is at most, as NVML samples it; NULL when there is no bound
    bounds -- what can be said
FROM questions
WHERE NOT EXISTS (
    SELECT 1
    FROM gpu_traces AS traces
    WHERE traces.recording = questions.recording AND traces.pid = questions.pid AND traces.activities > 0
)
ORDER BY recording, number, pid
