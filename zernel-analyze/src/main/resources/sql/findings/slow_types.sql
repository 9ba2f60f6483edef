-- Much of the arithmetic is in a data type that CPUs compute slowly. Operators run in float16, bfloat16 or float64.
--
-- By the names of the functions in which the training thread is sampled on a CPU, so counted is what these tell, at
-- least: code that a library makes while it runs has none, as where the CPU has instructions for bfloat16. Without
-- these, float16 and bfloat16 are computed number by number, and what a library has no code for also with them. At
-- least half of that is assumed to be saved, at most all of it, with waits for the pool of threads, code that has no
-- name, and what surrounds such arithmetic. float64 has twice the bytes of float32, and half as many numbers in an
-- instruction: half is assumed, and as much as of float16 where the job has convolutions, of which oneDNN has none for
-- float64, and which are computed sample by sample.
-- Does not apply to what runs on a GPU, where float16 and bfloat16 are fast.
--
-- needs: _between_calls, operator_samples
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view operator_samples has the shares
-- lines: that arithmetic WHERE thread = 'training' AND id IN (SELECT id FROM _operator_frames WHERE is_slow)
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            50 AS min_samples, -- of the training thread
            0.25 AS min_share, -- of these, in such a type
            0.5 AS least_saved, -- of such time, that float32 is assumed to save at least
            0.999 AS most_saved, -- of all time on the CPU, that it saves at most: float32 takes some, too
            0.05 AS min_unfolding, -- of the samples in such a type, that copy for convolutions
            2 AS deviations -- standard deviations that the share may be wrong
    ),
    shares AS (
        SELECT
            types.recording,
            types.pid,
            types.tid,
            types.samples,
            types.half_share >= types.double_share AS is_half,
            greatest(types.half_share, types.double_share) AS share,
            types.unfolding_share,
            is_half OR types.unfolding_share >= thresholds.min_unfolding * share AS saves_more,
            thresholds.deviations * sqrt(share * (1 - share) / types.samples) AS error,
            medians.steps,
            medians.step_ns,
            medians.between_ns + medians.called_ns AS cpu_ns,
            share * cpu_ns AS type_ns,
            types.waiting_share + types.unnamed_share
                + CASE WHEN saves_more THEN types.around_share ELSE 0 END AS more_share,
            least(share + error + more_share, thresholds.most_saved) * cpu_ns AS most_ns,
            greatest(share - error, 0) * thresholds.least_saved * cpu_ns AS least_ns
        FROM operator_samples AS types
        JOIN _between_calls AS medians
            ON medians.recording = types.recording
            AND medians.pid = types.pid
            AND medians.tid = types.tid
        CROSS JOIN thresholds
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    type_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    CASE WHEN saves_more THEN type_ns ELSE least_saved * type_ns END
        AS lost_ns, -- [ns] in such arithmetic; of float64 without convolutions what float32 saves of it
    most_ns AS bound_ns, -- [ns] saved at most: all of it, and what may be of it
    least_ns AS least_lost_ns, -- [ns] lost at least: half of it
    format('median of {} steps: {} on the CPU; at least {} of {} samples compute in {}; ',
        steps, ms(cpu_ns), pct(share), samples,
        CASE WHEN is_half THEN 'half precision (float16 or bfloat16)' ELSE 'double precision (float64)' END)
        || CASE
            WHEN saves_more AND NOT is_half
                THEN format('{} copy for convolutions, which no library computes in it; ', pct(unfolding_share))
            ELSE ''
        END
        || CASE
            WHEN saves_more THEN format('float32 is assumed to save {} of it at least; ', pct(least_saved))
            ELSE format('float32 is assumed to save {} of it; ', pct(least_saved))
        END AS evidence, -- what it rests on
    CASE
        WHEN is_half
            THEN 'float32 on a CPU: no .half() and no autocast to float16 there; bfloat16 only with instructions for '
                || 'it (avx512_bf16 or amx_bf16 in /proc/cpuinfo)'
        ELSE 'float32, where its precision does: .float() of what comes from NumPy, which has float64, and of the model'
    END AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM shares
CROSS JOIN thresholds
WHERE steps >= min_steps AND samples >= min_samples AND share >= min_share
