-- Handing objects to other processes takes much of the time. They are pickled, sent, read and made again.
--
-- Typical is a large table or model among the arguments of each task of a pool, or results that hold their inputs. By
-- samples of the threads that compute most in processes without steps: in multiprocessing and joblib, where these
-- pickle, send and receive. It runs in threads of the pool, so the lines of the program are those that wait for it.
-- Does not apply to trainings (blocked_on_process, data_bound).
--
-- needs: _working_samples, _ipc_stacks
-- severity: high from 25 % of the time of these threads on a CPU, else medium
-- hint: py-spy dump --pid PID shows such a thread in dumps, send, recv or get
-- lines: that time WHERE own AND kind = 'sample' AND id IN (SELECT id FROM _ipc_stacks WHERE hands)
-- lines: the waits WHERE thread = 'process' AND kind <> 'sample' AND id IN (SELECT id FROM _ipc_stacks WHERE asks)
-- lines: that time in libraries WHERE NOT own AND kind = 'sample' AND id IN (SELECT id FROM _ipc_stacks WHERE hands)
WITH
    thresholds AS (
        SELECT
            50 AS min_samples, -- of the threads that compute most
            0.15 AS min_share, -- of these, in handing over
            0.1 AS min_wall_share -- of the time that these threads work
    ),
    sums AS (
        SELECT
            samples.recording,
            samples.pid,
            any_value(samples.wall_ns) AS wall_ns,
            count(*) AS samples,
            count_if(stacks.hands) AS found,
            sum(samples.ns) AS cpu_ns,
            coalesce(sum(samples.ns) FILTER (stacks.hands), 0) AS handing_ns
        FROM _working_samples AS samples
        LEFT JOIN _ipc_stacks AS stacks ON stacks.id = samples.id
        GROUP BY samples.recording, samples.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    round(100 * found / samples, 1) AS value, -- percent of its time on a CPU
    '% of its time on a CPU in handing over' AS unit, -- unit of value
    severity_of(found / samples) AS severity, -- high or medium
    format('{:.2f} s of {:.2f} s on a CPU, by {} of {} samples, pickle, send or receive objects of other processes',
        handing_ns / 1e9, cpu_ns / 1e9, found, samples) AS evidence, -- what it rests on
    'hand over little: names of files, indices or the rows that a task needs; what all tasks need once for each '
        || 'process, by an initializer of the pool, or as a global before it is forked; arrays in shared memory; '
        || 'and return no inputs' AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM sums
CROSS JOIN thresholds
WHERE samples >= min_samples AND found >= min_share * samples AND handing_ns >= min_wall_share * wall_ns
