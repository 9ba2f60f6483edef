-- Memory that PyTorch's allocator has handed out: exact where steps end and at the maximum, else by slice.
--
-- The maximum was in one of the slices that handed out more than the level was below it. Of these the 1,000 that may
-- hold most are looked into. Of other slices only the level at their end is known, and where a step ends in them.
--
-- needs: events, _torch_slices, step_work
CREATE TABLE _torch_levels AS
WITH
    most AS (
        SELECT recording, pid, device, max(greatest(allocated_bytes, allocated_bytes - change_bytes)) AS bytes
        FROM _torch_slices
        GROUP BY ALL
    ),
    slices AS (
        SELECT
            recording,
            pid,
            device,
            slice,
            allocated_bytes,
            allocated_bytes - change_bytes AS before_bytes,
            allocated_bytes - change_bytes + handed_out_bytes AS most_bytes
        FROM _torch_slices
    ),
    -- By an aggregate, which costs half of what a window does.
    tops AS (
        SELECT
            slices.recording,
            slices.pid,
            slices.device,
            max({
                'most_bytes': slices.most_bytes,
                'earlier': -slices.slice,
                'before_bytes': slices.before_bytes
            }, 1000) AS tops
        FROM slices
        JOIN most
            ON most.recording = slices.recording
            AND most.pid = slices.pid
            AND most.device IS NOT DISTINCT FROM slices.device
        WHERE slices.most_bytes > most.bytes
        GROUP BY slices.recording, slices.pid, slices.device
    ),
    highest AS (
        SELECT recording, pid, device, -top.earlier AS slice, top.before_bytes
        FROM (
            SELECT recording, pid, device, unnest(tops) AS top
            FROM tops
        )
    ),
    others AS (
        SELECT slices.*
        FROM slices
        ANTI JOIN highest
            ON highest.recording = slices.recording
            AND highest.pid = slices.pid
            AND highest.device IS NOT DISTINCT FROM slices.device
            AND highest.slice = slices.slice
    ),
    -- What is asked of a slice: every change, or the sum of those until a step ends.
    questions AS (
        SELECT *, row_number() OVER () AS number
        FROM (
            SELECT recording, pid, device, slice, before_bytes, (slice + 1) << 22 AS until_ns, TRUE AS every
            FROM highest
            UNION ALL
            SELECT others.recording, others.pid, others.device, others.slice, others.before_bytes, work.end_ns, FALSE
            FROM others
            JOIN step_work AS work
                ON work.recording = others.recording
                AND work.pid = others.pid
                AND work.end_ns >> 22 = others.slice
        )
    ),
    changes AS (
        SELECT
            questions.number,
            questions.every,
            events.ts_ns AS at_ns,
            CASE events.kind WHEN 'torch_alloc' THEN events.bytes ELSE -events.bytes END AS change_bytes
        FROM events
        JOIN questions
            ON questions.recording = events.recording
            AND questions.pid = events.pid
            AND questions.device IS NOT DISTINCT FROM events.device
            AND questions.slice = events.ts_ns >> 22
        WHERE (events.kind IN ('torch_alloc', 'torch_free')) IS TRUE
            AND events.bytes > 0
            AND events.ts_ns <= questions.until_ns
    ),
    answers AS (
        SELECT
            number,
            sum(change_bytes) AS change_bytes,
            list({'at_ns': at_ns, 'change_bytes': change_bytes}) FILTER (WHERE every) AS changes
        FROM changes
        GROUP BY number
    ),
    listed AS (
        SELECT
            questions.recording,
            questions.pid,
            questions.device,
            questions.slice,
            questions.before_bytes,
            unnest(answers.changes) AS change
        FROM questions
        JOIN answers ON answers.number = questions.number
    )
SELECT
    questions.recording,
    questions.pid,
    questions.device,
    questions.until_ns AS at_ns,
    CAST(questions.before_bytes + answers.change_bytes AS BIGINT) AS allocated_bytes
FROM questions
JOIN answers ON answers.number = questions.number
WHERE NOT questions.every
UNION ALL
SELECT recording, pid, device, (slice + 1) << 22, allocated_bytes
FROM others
UNION ALL
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU as the process counts them
    change.at_ns, -- [ns] when
    CAST(before_bytes + sum(change.change_bytes) OVER (
        PARTITION BY recording, pid, device, slice
        ORDER BY change.at_ns
        ROWS UNBOUNDED PRECEDING
    ) AS BIGINT) AS allocated_bytes -- [bytes] handed out after it
FROM listed
