-- Stacks whose line calls what has a faster way, other than loading item by item.
--
-- needs: faster_ways
CREATE VIEW _called_ways AS
SELECT
    id, -- number of the stack
    call, -- what the line calls
    in_loops -- whether its faster way is one only where it is called again and again
FROM faster_ways
WHERE NOT by_item;

-- A call that has a faster way takes much of the time. It is one that is slow by how it works, whatever it is given.
--
-- By samples in calls of the view known_calls: of the training thread in steps of training, and of processes without
-- steps those of the threads that compute most. The line says what is faster; whether that does the same for the
-- program only its author knows. How much a training gains is not said, as what such a call leaves to the backward pass
-- is not in it; where it keeps steps from what they are for, other findings count it.
-- Does not apply to what is slow only in a loop, as adding to a table, where all samples of it are one stretch of time,
-- as of a single call; nor to calls that a framework makes by itself, or loading item by item in a training
-- (data_bound).
--
-- needs: _working_samples, _step_samples, faster_ways, _called_ways
-- severity: high from 25 % of the time of these threads on a CPU, else medium
-- hint: the view known_calls has all of these calls
-- lines: that time WHERE thread = 'process' AND kind = 'sample' AND id IN (SELECT id FROM faster_ways)
-- lines: that time in steps WHERE thread = 'training' AND step_kind = 'train' AND id IN (SELECT id FROM _called_ways)
WITH
    thresholds AS (
        SELECT
            20 AS min_samples, -- in such a call
            0.1 AS min_share, -- of the time on a CPU of a program without steps
            0.05 AS min_wall_share, -- of the time that its threads work
            0.2 AS min_step_share -- of the time on a CPU in steps of training
    ),
    samples AS (
        SELECT
            samples.recording,
            samples.pid,
            NULL AS tid,
            samples.wall_ns,
            samples.ns,
            ways.call,
            ways.in_loops,
            lag(ways.call) OVER (
                PARTITION BY samples.recording, samples.pid, samples.tid ORDER BY samples.start_ns
            ) AS call_before
        FROM _working_samples AS samples
        LEFT JOIN faster_ways AS ways ON ways.id = samples.id
        UNION ALL
        SELECT
            samples.recording,
            samples.pid,
            samples.tid,
            NULL,
            samples.ns,
            ways.call,
            ways.in_loops,
            lag(ways.call) OVER (
                PARTITION BY samples.recording, samples.pid, samples.tid ORDER BY samples.middle_ns
            )
        FROM _step_samples AS samples
        LEFT JOIN _called_ways AS ways ON ways.id = samples.id
    ),
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            any_value(wall_ns) AS wall_ns,
            call,
            any_value(in_loops) AS in_loops,
            count(*) AS samples,
            count(*) FILTER (call_before IS NULL OR call_before <> call) AS stretches,
            sum(ns) AS call_ns,
            sum(sum(ns)) OVER (PARTITION BY recording, pid, tid) AS cpu_ns
        FROM samples
        GROUP BY recording, pid, tid, call
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    tid, -- training thread; NULL in a process without steps
    round(100 * call_ns / cpu_ns, 1) AS value, -- percent of its time on a CPU
    format('% of its time on a CPU {}in {}', CASE WHEN tid IS NULL THEN '' ELSE 'in steps ' END, call)
        AS unit, -- unit of value
    severity_of(call_ns / cpu_ns) AS severity, -- high or medium
    format('{:.2f} s of {:.2f} s {}on a CPU are in {} ({:,} samples)',
        call_ns / 1e9,
        cpu_ns / 1e9,
        CASE WHEN tid IS NULL THEN 'of the threads that compute most ' ELSE '' END,
        call,
        samples) AS evidence, -- what it rests on
    'what its line says is faster, where that does the same; else call it less often, and keep what it returned'
        AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM sums
CROSS JOIN thresholds
WHERE call IS NOT NULL
    AND samples >= min_samples
    AND (NOT in_loops OR stretches > 1)
    AND CASE
        WHEN tid IS NULL THEN call_ns >= min_share * cpu_ns AND call_ns >= min_wall_share * wall_ns
        ELSE call_ns >= min_step_share * cpu_ns
    END
