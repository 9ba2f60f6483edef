-- A program computes in a data type that CPUs compute slowly. Its model runs in float16, bfloat16 or float64.
--
-- Of processes without steps, such as those that answer requests: by the names of the functions in which the threads
-- that compute most are sampled on a CPU, so counted is what these tell, at least.
-- Does not apply to trainings (slow_types), to what runs on a GPU, where float16 and bfloat16 are fast, nor to other
-- libraries than PyTorch's own: what NumPy computes is float64 unless a program asks for less.
--
-- needs: _working_samples, _operator_frames
-- severity: high from 50 % of the time of these threads on a CPU in such a type, else medium
-- hint: a CPU has instructions for bfloat16 where /proc/cpuinfo names avx512_bf16 or amx_bf16
-- lines: that work WHERE thread = 'process' AND id IN (SELECT id FROM _operator_frames WHERE is_slow AND of_torch)
WITH
    thresholds AS (
        SELECT
            50 AS min_samples, -- of the threads that compute most
            0.25 AS min_share, -- of these, in such a type
            0.5 AS high_share -- for high severity
    ),
    sums AS (
        SELECT
            samples.recording,
            samples.pid,
            any_value(samples.threads) AS threads,
            count(*) AS samples,
            sum(samples.ns) AS cpu_ns,
            coalesce(sum(samples.ns) FILTER (frames.in_half AND frames.of_torch), 0) AS half_ns,
            coalesce(sum(samples.ns) FILTER (frames.in_double AND frames.of_torch), 0) AS double_ns,
            greatest(half_ns, double_ns) / sum(samples.ns) AS share
        FROM _working_samples AS samples
        JOIN _operator_frames AS frames ON frames.id = samples.id
        GROUP BY samples.recording, samples.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    round(100 * share, 1) AS value, -- percent of its time on a CPU
    '% of its time on a CPU' AS unit, -- unit of value
    CASE WHEN share >= high_share THEN 'high' ELSE 'medium' END AS severity, -- high or medium
    format('{:.2f} s on a CPU of {}; at least {} of {} samples compute in {}', cpu_ns / 1e9,
        CASE threads WHEN 1 THEN 'the thread that computes' ELSE format('{} threads that compute', threads) END,
        pct(share), samples,
        CASE
            WHEN half_ns >= double_ns THEN 'half precision (float16 or bfloat16)'
            ELSE 'double precision (float64)'
        END) AS evidence, -- what it rests on
    CASE
        WHEN half_ns >= double_ns
            THEN 'float32 on a CPU: load the model with dtype=torch.float32, no .half() and no autocast to float16; '
                || 'bfloat16 only with instructions for it (avx512_bf16 or amx_bf16 in /proc/cpuinfo)'
        ELSE 'float32, where its precision does: .float() of the model, and of what comes from NumPy, which has float64'
    END AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM sums
CROSS JOIN thresholds
WHERE samples >= min_samples AND share >= min_share
