-- Stacks in which `generate` of transformers makes tokens, and what it does there.
--
-- needs: _stack_frames
CREATE TABLE _generation_stacks AS
SELECT
    id, -- number of the stack
    bool_or(file LIKE '%/transformers/models/%' AND regexp_matches(function, '(^|\.)forward$'))
        AS computes, -- whether the model computes
    bool_or(file LIKE '%/generation/utils.py' AND regexp_matches(function, '(^|\.)_prefill$'))
        AS prefills, -- whether it is given the prompt
    bool_or(file LIKE '%/transformers/cache\_utils.py' ESCAPE '\')
        AS caches -- whether keys and values are kept there
FROM _stack_frames
WHERE module = 'transformers' AND NOT native
GROUP BY id
HAVING bool_or(
    file LIKE '%/generation/utils.py' AND regexp_matches(function, '(^|\.)_(sample|beam_search|assisted_decoding)$')
);

-- Text is generated without a cache. For each new token the model computes all that came before it again.
--
-- Of programs without steps: samples of the threads that compute most, in passes of a model of transformers for one
-- token after the prompt. With a cache of keys and values some of them are where it is kept (`cache_utils.py`), which
-- takes a part of each pass. How much time it saves depends on how long the texts are.
-- Does not apply to versions of transformers that do not tell the prompt's pass apart (before 5), to models that are
-- compiled, nor to what another library generates.
--
-- needs: _working_samples, _generation_stacks
-- severity: high from 25 % of the time of these threads on a CPU, else medium
-- hint: model.generation_config.use_cache says whether it is on
-- lines: these passes WHERE id IN (SELECT id FROM _generation_stacks WHERE computes AND NOT prefills)
WITH
    thresholds AS (
        SELECT
            300 AS min_samples, -- in such passes, of which none is in the cache
            0.1 AS min_share -- of the time on a CPU
    ),
    sums AS (
        SELECT
            samples.recording,
            samples.pid,
            sum(samples.ns) AS cpu_ns,
            sum(CASE WHEN stacks.computes AND NOT stacks.prefills THEN samples.ns ELSE 0 END) AS pass_ns,
            count_if(stacks.computes AND NOT stacks.prefills) AS passes,
            count_if(stacks.prefills) AS prefills,
            count_if(stacks.caches) AS caches
        FROM _working_samples AS samples
        LEFT JOIN _generation_stacks AS stacks ON stacks.id = samples.id
        GROUP BY samples.recording, samples.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    round(100 * pass_ns / cpu_ns, 1) AS value, -- percent of its time on a CPU
    '% of its time on a CPU in such passes' AS unit, -- unit of value
    severity_of(pass_ns / cpu_ns) AS severity, -- high or medium
    format('{:.2f} s of {:.2f} s on a CPU in passes of the model after the one for the prompt; of {:,} samples there, '
        || 'none is where keys and values are kept',
        pass_ns / 1e9, cpu_ns / 1e9, passes) AS evidence, -- what it rests on
    'generate(use_cache=True), which is the default: the model''s configuration, training with gradient checkpointing '
        || 'or an argument switched it off; and several prompts at once' AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM sums
CROSS JOIN thresholds
WHERE passes >= min_samples AND prefills > 0 AND caches = 0 AND pass_ns >= min_share * cpu_ns
