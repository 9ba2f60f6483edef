-- Some probes could not be attached. What the report does not show of it may have happened all the same.
--
-- Not named are kinds that were switched off on purpose, kinds whose library no process had loaded (a job without NCCL
-- has nothing to probe there) unless steps and phases rest on them and nothing of a job was recorded at all, samples of
-- GPUs where no job used one, and functions that a library lacks while another function of the same kind was
-- attached in it.
--
-- needs: kinds, probes, recordings, files
-- severity: medium for regions and backward, without which there are no steps and phases; else low
-- hint: `zernel-record doctor` says what this machine can record
WITH
    essential AS (
        SELECT unnest(['region', 'backward']) AS kind -- kinds that steps and phases rest on
    ),
    gpu_jobs AS (
        SELECT DISTINCT recording FROM kinds WHERE kind LIKE 'cuda%' AND events > 0
    ),
    -- Recordings in which a process ran: what it did not load, it does without.
    running AS (
        SELECT DISTINCT recording FROM kinds WHERE kind IN ('sample', 'sched', 'process') AND events > 0
    ),
    whole_kinds AS (
        SELECT recording, kind, 'kind ' || kind AS what, state, why, 1 AS functions
        FROM kinds
        WHERE (state = 'unavailable'
                AND (kind NOT IN ('gpu_sample', 'gpu_process') OR recording IN (SELECT recording FROM gpu_jobs)))
            OR (state = 'waiting'
                AND kind IN (SELECT kind FROM essential)
                AND recording NOT IN (SELECT recording FROM recordings WHERE command <> '')
                AND recording NOT IN (SELECT recording FROM running))
    ),
    functions AS (
        SELECT
            probes.recording,
            probes.kind,
            probes.symbol,
            probes.library,
            probes.state,
            probes.why,
            bool_or(probes.state = 'attached') OVER (PARTITION BY probes.recording, probes.kind, probes.library)
                AS has_attached
        FROM probes
        ANTI JOIN whole_kinds ON whole_kinds.recording = probes.recording AND whole_kinds.kind = probes.kind
    ),
    single_functions AS (
        SELECT
            recording,
            kind,
            format('kind {} in {}', kind, coalesce(parse_filename(library), 'the kernel')) AS what,
            any_value(state) AS state,
            string_agg(DISTINCT symbol || coalesce(': ' || why, ''), '; ' ORDER BY symbol || coalesce(': ' || why, ''))
                AS why,
            count(*) AS functions
        FROM functions
        WHERE state = 'failed' OR (state = 'missing' AND NOT has_attached)
        GROUP BY recording, kind, library
    ),
    everything AS (
        SELECT recording, kind, what, state, why, functions FROM whole_kinds
        UNION ALL
        SELECT recording, kind, what, state, why, functions FROM single_functions
    )
SELECT
    recording_label(recording)
        || what AS subject, -- kind, or kind in a library
    functions AS value, -- how many are not attached
    CASE WHEN what = 'kind ' || kind THEN 'kind' ELSE 'functions' END AS unit, -- unit of value
    CASE WHEN kind IN (SELECT kind FROM essential) THEN 'medium' ELSE 'low' END AS severity, -- medium or low
    state || coalesce(': ' || why, '') AS evidence, -- what it rests on
    CASE
        WHEN state = 'waiting' THEN 'no recorded process had loaded the library: record while the job runs'
        ELSE 'ask what this machine can record'
    END AS advice, -- what to try
    'sudo zernel-record doctor' AS next_command -- to see more
FROM everything
