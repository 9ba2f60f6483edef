-- What the driver sampled of each GPU while a process trained on it.
--
-- A sample speaks of the time since the one before. Those count that lie within training, without warm-up; where there
-- is none, those of which half does. Of a GPU on which no known process trains, all count.
--
-- needs: events, _trained
CREATE TABLE _trained_samples AS
WITH
    constants AS (
        SELECT
            1000000000 AS period_ns, -- [ns] that a value speaks of, where it is the only one
            0.95 AS whole, -- share of a value's time that lies within training
            0.5 AS half -- the same where none lies within
    ),
    samples AS (
        SELECT
            events.recording,
            events.device,
            events.object AS instance,
            events.name,
            events.unit,
            events.value,
            events.ts_ns AS end_ns,
            coalesce(
                lag(events.ts_ns) OVER value_order,
                2 * events.ts_ns - lead(events.ts_ns) OVER value_order,
                events.ts_ns - constants.period_ns
            ) AS start_ns
        FROM events
        CROSS JOIN constants
        WHERE events.kind = 'gpu_sample'
        WINDOW value_order AS (
            PARTITION BY events.recording, events.device, events.object, events.name ORDER BY events.ts_ns
        )
    ),
    listed AS (
        SELECT recording, pid, mode(device ORDER BY device) AS device
        FROM events
        WHERE kind = 'gpu_process'
        GROUP BY ALL
    ),
    only_devices AS (
        SELECT recording, any_value(device) AS device
        FROM events
        WHERE kind = 'gpu_sample'
        GROUP BY recording
        HAVING count(DISTINCT device) = 1
    ),
    trainings AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.start_ns,
            trained.end_ns,
            coalesce(listed.device, only_devices.device) AS device
        FROM _trained AS trained
        LEFT JOIN listed ON listed.recording = trained.recording AND listed.pid = trained.pid
        LEFT JOIN only_devices ON only_devices.recording = trained.recording
    ),
    inside AS (
        SELECT
            samples.*,
            trainings.pid,
            (least(samples.end_ns, trainings.end_ns) - greatest(samples.start_ns, trainings.start_ns))
                / (samples.end_ns - samples.start_ns) AS share
        FROM samples
        JOIN trainings ON trainings.recording = samples.recording AND trainings.device = samples.device
        WHERE samples.end_ns > samples.start_ns
    ),
    known AS (
        SELECT recording, pid, device, instance, name, unit, value, end_ns - start_ns AS span_ns
        FROM inside
        CROSS JOIN constants
        QUALIFY share >= CASE
            WHEN max(share) OVER (PARTITION BY recording, pid, device, instance, name) >= constants.whole
                THEN constants.whole
            ELSE constants.half
        END
        UNION ALL
        SELECT recording, NULL, device, instance, name, unit, value, greatest(end_ns - start_ns, 1)
        FROM samples
        ANTI JOIN trainings ON trainings.recording = samples.recording AND trainings.device = samples.device
    )
SELECT
    recording, -- recording
    pid, -- process that trains on it; NULL where none is known
    device, -- GPU as the driver counts them
    instance, -- id of the MIG instance; NULL for the whole GPU
    name, -- utilization, power, sm_active, ...
    unit, -- unit of the value
    value, -- the value
    span_ns -- [ns] that it speaks of
FROM known
