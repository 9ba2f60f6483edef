-- What was not as usual, per layer: steps, calls, ranks and GPUs far from their own median, with the reason.
--
-- Usual is always the median, its spread the median deviation, so outliers do not hide themselves. Layers: *pytorch*
-- (steps, regions, operators, its allocator), *python*, *cuda*, *nccl*, *system* (reads), *hardware* (GPUs as the
-- driver saw them) and *probe* (users' own). At most ten rows a layer, the most costly first. An anomaly is no finding:
-- single slow calls are normal, and most cost little.
--
-- needs: step_outliers, call_outliers, late_steps, device_outliers, steps, _process_info, _collective_calls
CREATE VIEW anomalies AS
WITH
    thresholds AS (
        SELECT
            10 AS most, -- rows per layer
            5 AS min_deviations, -- of a rank's delay over the median one, scaled as standard deviations
            0.1 AS min_delay -- and as a share of the step
    ),
    delays AS (
        SELECT comm_id, count(*) AS steps, median(lag_ns) AS median_ns, mad(lag_ns) AS mad_ns
        FROM late_steps
        GROUP BY ALL
    ),
    all_anomalies AS (
        SELECT
            'pytorch' AS layer,
            'step' AS kind,
            'step' AS name,
            recording,
            pid,
            CAST(NULL AS BIGINT) AS device,
            start_ns AS at_ns,
            CAST(dur_ns AS DOUBLE) AS value,
            'ns' AS unit,
            CAST(usual_ns AS DOUBLE) AS median_value,
            CAST(mad_ns AS DOUBLE) AS mad_value,
            score,
            1 AS times,
            CAST(dur_ns - usual_ns AS DOUBLE) AS excess_ns,
            CASE
                WHEN reason IS NOT NULL THEN reason
                ELSE format('{} more in {}', ms(phase_excess_ns), phase)
            END AS reason
        FROM step_outliers
        UNION ALL
        SELECT
            CASE
                WHEN kind IN ('region', 'backward', 'torch_op', 'torch_alloc', 'torch_free') THEN 'pytorch'
                WHEN kind = 'py_call' THEN 'python'
                WHEN kind IN ('nccl', 'nccl_comm', 'dist_wait') THEN 'nccl'
                WHEN kind IN ('io', 'io_open') THEN 'system'
                WHEN starts_with(kind, 'cuda') OR starts_with(kind, 'gpu') THEN 'cuda'
                ELSE 'probe'
            END,
            kind,
            name,
            recording,
            pid,
            NULL,
            longest_at_ns,
            longest_ns,
            'ns',
            median_ns,
            mad_ns,
            score,
            times,
            excess_ns,
            format('{} of {} calls took over 3 times the median, {} in all', times, calls, ms(excess_ns))
        FROM call_outliers
        UNION ALL
        SELECT
            'nccl',
            'late rank',
            late_steps.name,
            late_steps.recording,
            late_steps.pid,
            NULL,
            late_steps.late_ns,
            late_steps.lag_ns,
            'ns',
            delays.median_ns,
            delays.mad_ns,
            (late_steps.lag_ns - delays.median_ns) / (1.4826 * greatest(delays.mad_ns, 1)),
            1,
            late_steps.lag_ns - delays.median_ns,
            format('rank {} came {} after the middle one: {}',
                late_steps.late_rank, ms(late_steps.lag_ns), coalesce(late_steps.cause, 'cause not known'))
        FROM late_steps
        JOIN delays ON delays.comm_id = late_steps.comm_id
        CROSS JOIN thresholds
        WHERE late_steps.late_rank IS NOT NULL
            AND late_steps.step_kind <> 'warmup'
            AND delays.steps >= 10
            AND late_steps.lag_ns >= delays.median_ns + greatest(
                thresholds.min_deviations * 1.4826 * delays.mad_ns,
                thresholds.min_delay * late_steps.step_ns
            )
        UNION ALL
        SELECT
            'hardware',
            what,
            name,
            recording,
            NULL,
            device,
            at_ns,
            value,
            unit,
            median_value,
            deviation / 1.4826,
            CASE WHEN deviation > 0 THEN abs(value - median_value) / deviation END,
            times,
            NULL,
            reason
        FROM device_outliers
    ),
    ranks AS (
        SELECT recording, pid, arg_max(rank, nranks) AS rank
        FROM _collective_calls
        GROUP BY ALL
    ),
    placed AS (
        SELECT
            all_anomalies.*,
            steps.step,
            steps.end_ns AS step_end_ns,
            coalesce(ranks.rank, TRY_CAST(info.rank AS BIGINT)) AS rank,
            row_number() OVER (
                PARTITION BY layer
                ORDER BY excess_ns DESC NULLS LAST, score DESC NULLS LAST, all_anomalies.recording, device, name, at_ns
            ) AS place
        FROM all_anomalies
        ASOF LEFT JOIN steps
            ON steps.recording = all_anomalies.recording
            AND steps.pid = all_anomalies.pid
            AND steps.start_ns <= all_anomalies.at_ns
        LEFT JOIN ranks ON ranks.recording = all_anomalies.recording AND ranks.pid = all_anomalies.pid
        LEFT JOIN _process_info AS info ON info.recording = all_anomalies.recording AND info.pid = all_anomalies.pid
    )
SELECT
    layer, -- pytorch, python, cuda, nccl, system, hardware or probe
    kind, -- step, kind of call, late rank, or for GPUs: moment, device, throttled, error
    name, -- function, region or value of the driver
    recording, -- recording
    pid, -- process; NULL for a GPU
    rank, -- its rank in the job, if known
    device, -- GPU as the driver counts them
    CASE WHEN at_ns < step_end_ns THEN step END AS step, -- step of the process in which it was
    at_ns, -- [ns] when it began, by the clock of its machine; NULL for all the time
    value, -- the value that is not as usual: the longest duration, the driver's value
    unit, -- unit of the values
    median_value, -- usual: the median
    mad_value, -- median deviation from it
    score, -- how far the value is from usual, in deviations, scaled as standard deviations
    times, -- outliers of that name
    CAST(excess_ns AS BIGINT) AS excess_ns, -- [ns] all of them over the median; NULL for a GPU
    reason -- what is known of it
FROM placed
CROSS JOIN thresholds
WHERE place <= thresholds.most
ORDER BY layer, place
