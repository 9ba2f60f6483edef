-- A call takes much of the time that has a faster way. It is one that is slow by how it works, whatever it is given.
--
-- Of processes without steps: samples of the threads that compute most, in calls of the view known_calls. The line says
-- what is faster; whether that does the same for the program only its author knows. In trainings the lines of other
-- findings say so.
-- Does not apply to trainings, nor to calls that a framework makes by itself.
--
-- needs: _working_samples, _working_threads, faster_ways
-- severity: high from 25 % of the time of these threads on a CPU, medium from 10 %
-- hint: the view known_calls has all of these calls
-- lines: the time in such calls WHERE thread = 'process' AND id IN (SELECT id FROM faster_ways)
WITH
    thresholds AS (
        SELECT
            20 AS min_samples, -- in such a call
            0.1 AS min_share, -- of the time on a CPU
            0.05 AS min_wall_share -- of the time that these threads work
    ),
    sums AS (
        SELECT
            samples.recording,
            samples.pid,
            ways.call,
            count(*) AS samples,
            sum(samples.ns) AS call_ns,
            sum(sum(samples.ns)) OVER (PARTITION BY samples.recording, samples.pid) AS cpu_ns
        FROM _working_samples AS samples
        LEFT JOIN faster_ways AS ways ON ways.id = samples.id
        GROUP BY samples.recording, samples.pid, ways.call
    ),
    walls AS (
        SELECT DISTINCT recording, pid, wall_ns
        FROM _working_threads
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    round(100 * call_ns / cpu_ns, 1) AS value, -- percent of its time on a CPU
    format('% of its time on a CPU in {}', call) AS unit, -- unit of value
    severity_of(call_ns / cpu_ns) AS severity, -- high or medium
    format('{:.2f} s of {:.2f} s on a CPU, by {} samples, are in {}, called by its own code',
        call_ns / 1e9, cpu_ns / 1e9, samples, call) AS evidence, -- what it rests on
    'what its line says is faster, where that does the same; else call it less often, and keep what it returned'
        AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM sums
JOIN walls ON walls.recording = sums.recording AND walls.pid = sums.pid
CROSS JOIN thresholds
WHERE call IS NOT NULL
    AND samples >= min_samples
    AND call_ns >= min_share * cpu_ns
    AND call_ns >= min_wall_share * wall_ns
