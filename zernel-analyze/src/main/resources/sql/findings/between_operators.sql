-- Much of each step is between operators of PyTorch. The training thread runs Python there, or waits.
--
-- Typical are loops that read tensors value by value: `.item()`, `float(x)`, an `if` on a tensor, printing one. On a
-- CPU such a call takes little, but Python has to make it, and all that follows is done for a single value. Where a
-- step reads many, lost is the time of these reads and of what is right before and after them. Else it is all time
-- between operators. At most saved is that time and what operators of a few microseconds take, which a loop has many
-- of. Whether the thread computed or waited in such time a trace does not say, and with a profiler all of it takes
-- longer than without: one that keeps stacks follows each call of Python, which took 0.1 to 0.15 us where that was
-- measured (`python3 profiler_cost.py`). At least lost is what is left without that.
-- Does not apply to recordings (cpu_between_calls), to traces of jobs on GPUs (host_bound, sync_bound), nor to steps
-- with less than a millisecond of it and few reads, as any training has in Python.
--
-- needs: _operator_times, _step_spans, gpu_traces, recordings
-- severity: high from 25 % of step time, medium from 10 %
-- hint: profile with with_stack=True: then the finding names the functions
WITH
    thresholds AS (
        SELECT
            2 AS min_steps, -- steps of kind train
            0.15 AS min_share, -- of the step, between operators
            1000000 AS min_ns, -- [ns] of it
            10 AS min_reads, -- of a step, for which less is told of
            0.1 AS min_read_share, -- of the step, for reads
            20000 AS small_ns, -- [ns] an operator of a loop takes less
            150 AS call_ns, -- [ns] that a profiler with stacks takes for a call of Python
            0.02 AS told_share -- of the step, that it takes for all, from which on that is worth a word
    ),
    step_times AS (
        SELECT recording, pid, any_value(tid) AS tid, count(*) AS steps, avg(until_ns - from_ns) AS step_ns
        FROM _step_spans
        WHERE trains
        GROUP BY recording, pid
    ),
    times AS (
        SELECT
            recording,
            pid,
            dur_ns,
            is_between,
            kind,
            operator,
            function,
            built_in,
            previous_operator,
            next_operator,
            is_tensor_read(operator) AS reads,
            coalesce(is_tensor_read(previous_operator) OR is_tensor_read(next_operator), FALSE) AS beside_read
        FROM in_spans(_operator_times, _step_spans)
        WHERE trains
    ),
    sums AS (
        SELECT
            recording,
            pid,
            sum(dur_ns) FILTER (is_between) AS between_ns,
            count(*) FILTER (is_between) AS gaps,
            max(dur_ns) FILTER (is_between) AS longest_ns,
            arg_max([previous_operator, next_operator], dur_ns) FILTER (is_between) AS longest_between,
            count(*) FILTER (kind = 'torch_op') AS operators,
            coalesce(sum(dur_ns) FILTER (reads OR kind = 'torch_op' AND dur_ns < small_ns), 0) AS loop_ns,
            count(*) FILTER (reads) AS reads,
            coalesce(sum(dur_ns) FILTER (reads), 0) AS read_ns,
            coalesce(sum(dur_ns) FILTER (is_between AND beside_read), 0) AS beside_ns,
            mode(operator ORDER BY operator) FILTER (reads) AS read_operator
        FROM times
        CROSS JOIN thresholds
        GROUP BY recording, pid
    ),
    followed AS (
        SELECT
            traces.recording,
            sum(traces.functions) / nullif(any_value(recordings.ended_ns - recordings.started_ns), 0) AS calls_per_ns
        FROM gpu_traces AS traces
        JOIN recordings ON recordings.recording = traces.recording
        WHERE traces.functions > 0
        GROUP BY traces.recording
    ),
    functions AS (
        SELECT
            recording,
            pid,
            arg_max({'name': function, 'built_in': built_in}, (ns, function)) AS function,
            max(ns) AS function_ns,
            arg_max(function, (read_ns, function)) AS read_function,
            max(read_ns) AS read_function_ns
        FROM (
            SELECT
                recording,
                pid,
                function,
                sum(ns) AS ns,
                sum(read_ns) AS read_ns,
                CASE
                    WHEN 2 * max(ns) FILTER (built_in IS NOT NULL) >= sum(ns) THEN arg_max(built_in, (ns, built_in))
                END AS built_in
            FROM (
                SELECT
                    recording,
                    pid,
                    function,
                    built_in,
                    coalesce(sum(dur_ns) FILTER (is_between), 0) AS ns,
                    coalesce(sum(dur_ns) FILTER (reads OR is_between AND beside_read), 0) AS read_ns
                FROM times
                WHERE function IS NOT NULL
                GROUP BY ALL
                HAVING ns > 0 OR read_ns > 0
            )
            GROUP BY recording, pid, function
        )
        GROUP BY recording, pid
    ),
    costs AS (
        SELECT
            sums.*,
            step_times.tid,
            step_times.steps,
            step_times.step_ns,
            functions.* EXCLUDE (recording, pid, function),
            functions.function.name AS function,
            functions.function.built_in AS built_in,
            coalesce(functions.function.built_in = '<built-in function collect>', FALSE) AS collects,
            sums.between_ns / step_times.steps AS mean_between_ns,
            (sums.read_ns + sums.beside_ns) / step_times.steps AS mean_read_ns,
            sums.reads >= thresholds.min_reads * step_times.steps
                AND mean_read_ns >= thresholds.min_read_share * step_times.step_ns
                AND (2 * mean_read_ns >= mean_between_ns OR mean_between_ns < thresholds.min_ns) AS by_reads,
            CASE WHEN by_reads THEN mean_read_ns ELSE mean_between_ns END AS lost_ns,
            least(mean_between_ns + sums.loop_ns / step_times.steps, step_times.step_ns) AS bound_ns,
            followed.calls_per_ns * step_times.step_ns AS calls,
            calls * thresholds.call_ns AS profiler_ns,
            CASE WHEN calls IS NOT NULL THEN greatest(lost_ns - profiler_ns, 0) END AS least_lost_ns
        FROM sums
        JOIN step_times USING (recording, pid)
        LEFT JOIN functions USING (recording, pid)
        LEFT JOIN followed USING (recording)
        CROSS JOIN thresholds
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] in reads and beside them, or between operators
    bound_ns, -- [ns] saved at most, when nothing is between operators and none of them is small
    least_lost_ns, -- [ns] lost at least, without what following calls takes; NULL where the trace has no stacks
    format('mean of {} steps: {} of {} between operators of PyTorch, of which a step has {:.0f}; ',
        steps, us_or_ms(mean_between_ns), us_or_ms(step_ns), operators / steps)
        || CASE
            WHEN by_reads THEN format(
                '{:.0f} of them read a tensor into Python, most by {}: {} in these and {} right before and after '
                    || 'them{}; ',
                reads / steps, read_operator, us_or_ms(read_ns / steps), us_or_ms(beside_ns / steps),
                coalesce(format(', {} of it in {}', us_or_ms(read_function_ns / steps), read_function), '')
            )
            WHEN function IS NOT NULL THEN format('{} of it in {}{}; ',
                us_or_ms(function_ns / steps), function, coalesce(', most in ' || built_in, ''))
            ELSE format('the longest took {}, between {} and {}; ',
                us_or_ms(longest_ns), coalesce(longest_between[1], 'the begin'),
                coalesce(longest_between[2], 'the end'))
        END
        || 'with the profiler on, without which it is less'
        || CASE
            WHEN profiler_ns >= told_share * step_ns
                THEN format(': it follows {:,.0f} calls of Python a step, at {:.2f} us each for {}',
                    calls, call_ns / 1e3, us_or_ms(profiler_ns))
            ELSE ''
        END
        || '; ' AS evidence, -- what it rests on
    CASE
        WHEN by_reads AND read_operator IN ('aten::nonzero', 'aten::masked_select')
            THEN 'masks as factors or torch.where() instead of indices, on whole tensors'
        WHEN by_reads
            THEN 'compute with operators on whole tensors and read the result once: .tolist() or one .item() '
                || 'in place of one for each value, and not in each step'
        WHEN function IS NULL
            THEN 'profile with with_stack=True, which names the functions, or put record_function around the suspects'
        WHEN collects
            THEN 'no gc.collect() in each step, or gc.freeze() after the first one'
        ELSE 'make it cheaper, rarer, or compute with operators on whole tensors'
    END AS advice, -- what to try
    'zernel-analyze export --perfetto {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps
    AND (by_reads
        OR (lost_ns >= thresholds.min_share * step_ns AND lost_ns >= thresholds.min_ns))
