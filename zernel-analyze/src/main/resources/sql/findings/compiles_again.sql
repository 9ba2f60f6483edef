-- Stacks in a just-in-time compiler of JAX, with what it traces and lowers for it, of PyTorch or of Numba.
--
-- needs: _stack_frames
CREATE TABLE _compiler_stacks AS
SELECT
    id, -- number of the stack
    any_value(module) AS module -- package of the compiler
FROM _stack_frames
WHERE module = 'jax' AND (
        file LIKE '%/compiler.py' AND function LIKE '%compile%'
        OR file LIKE '%/partial\_eval.py' ESCAPE '\' AND function LIKE 'trace\_to\_jaxpr%' ESCAPE '\'
        OR file LIKE '%/pxla.py' AND (function LIKE 'lower\_%' ESCAPE '\' OR function LIKE '%compil%')
        OR file LIKE '%/mlir.py' AND function LIKE 'lower\_%' ESCAPE '\'
    )
    OR module = 'torch' AND file LIKE '%/\_dynamo/convert\_frame.py' ESCAPE '\' AND function LIKE '%compile%'
    OR module = 'numba' AND file LIKE '%/dispatcher.py' AND function LIKE '%compile%'
GROUP BY id;

-- Code is compiled again and again. Just-in-time compilation goes on long after it began.
--
-- Counted is the time of stacks in the compilers of JAX, torch.compile and Numba, on a CPU and blocked, of the thread
-- that calls them, in the second half of its time (until its last step, if it has steps): what is compiled once at the
-- start is over by then. It is in four fifths of that half at least, and other work in three. Where the thread trains,
-- a step loses its share of that time.
-- Does not apply to some steps that compile among others (recompiles), nor to compilers that other programs run.
--
-- needs: stack_events, _compiler_stacks, _threads, steps, step_mean
-- severity: high from 25 % of that time, medium from 10 %
-- hint: JAX_LOG_COMPILES=1 or TORCH_LOGS=recompiles says what is compiled and why
-- lines: what calls the compiler WHERE id IN (SELECT id FROM _compiler_stacks)
WITH
    thresholds AS (
        SELECT
            0.05 AS min_share, -- of the second half, in compilers
            0.25 AS high_share, -- for high severity
            0.1 AS medium_share -- for medium severity
    ),
    constants AS (
        SELECT
            5 AS parts, -- of the second half
            4 AS min_parts, -- of them, in which code is compiled; the last may be the end of the program
            3 AS min_others -- of them, in which anything else was seen: compilers may leave little time for it
    ),
    ends AS (
        SELECT recording, pid, tid, max(end_ns) AS end_ns
        FROM steps
        GROUP BY ALL
    ),
    halves AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            coalesce(any_value(ends.end_ns), max(threads.last_ns)) AS end_ns,
            (min(threads.first_ns) + coalesce(any_value(ends.end_ns), max(threads.last_ns))) // 2 AS half_ns
        FROM _threads AS threads
        LEFT JOIN ends
            ON ends.recording = threads.recording
            AND ends.pid = threads.pid
            AND ends.tid = threads.tid
        GROUP BY threads.recording, threads.pid, threads.tid
    ),
    seen AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ns,
            halves.end_ns - halves.half_ns AS wall_ns,
            (events.middle_ns - halves.half_ns) * constants.parts // (halves.end_ns - halves.half_ns) AS part,
            compilers.module
        FROM stack_events AS events
        JOIN halves
            ON halves.recording = events.recording
            AND halves.pid = events.pid
            AND halves.tid = events.tid
            AND halves.half_ns <= events.middle_ns
            AND halves.end_ns > events.middle_ns
        CROSS JOIN constants
        LEFT JOIN _compiler_stacks AS compilers ON compilers.id = events.id
        WHERE events.ns > 0
    ),
    sums AS (
        SELECT
            seen.recording,
            seen.pid,
            seen.tid,
            any_value(seen.wall_ns) AS wall_ns,
            sum(seen.ns) FILTER (seen.module IS NOT NULL) AS compile_ns,
            any_value(seen.module) AS module
        FROM seen
        CROSS JOIN constants
        GROUP BY seen.recording, seen.pid, seen.tid
        HAVING count(DISTINCT seen.part) FILTER (seen.module IS NOT NULL) >= any_value(constants.min_parts)
            AND count(DISTINCT seen.part) FILTER (seen.module IS NULL) >= any_value(constants.min_others)
    ),
    costs AS (
        SELECT
            sums.*,
            sums.compile_ns / sums.wall_ns AS share,
            step_mean.step_ns
        FROM sums
        LEFT JOIN step_mean
            ON step_mean.recording = sums.recording
            AND step_mean.pid = sums.pid
            AND step_mean.tid = sums.tid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that calls the compiler
    CASE WHEN step_ns IS NULL THEN 100 * share END AS value, -- percent of the time of the thread, where it has no steps
    CASE WHEN step_ns IS NULL THEN '% of its time in the compiler' END AS unit, -- unit of value
    share * step_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step; NULL without steps
    share * step_ns AS lost_ns, -- [ns] of a step, if it compiles for as much of its time as the thread does
    share * step_ns AS bound_ns, -- [ns] saved at most, when nothing is compiled
    CASE
        WHEN step_ns IS NOT NULL THEN NULL
        WHEN share >= high_share THEN 'high'
        WHEN share >= medium_share THEN 'medium'
        ELSE 'low'
    END AS severity, -- high, medium or low, where there are no steps
    format('thread {}: {:.2f} s of {:.2f} s, the second half of its time, in the compiler of {}; ',
        tid, compile_ns / 1e9, wall_ns / 1e9,
        CASE module WHEN 'jax' THEN 'JAX' WHEN 'torch' THEN 'PyTorch' ELSE 'Numba' END) AS evidence, -- what it rests on
    CASE module
        WHEN 'jax' THEN 'pad inputs to few shapes, pass what changes as an array, not as a Python value '
            || '(static_argnums), and make jitted functions once, outside of loops'
        WHEN 'torch' THEN 'torch.compile(dynamic=True), or pad inputs to few shapes; TORCH_LOGS=recompiles says why'
        ELSE 'call it with the same types, or give a signature'
    END AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE share >= min_share
