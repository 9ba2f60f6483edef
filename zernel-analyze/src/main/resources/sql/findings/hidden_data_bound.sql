-- Once no rank is late, training waits for data. The late rank hides that, as all wait for it meanwhile.
--
-- Workers that load a batch need a certain time for it, all of them together, whatever training waits for: at least the
-- time that they do not wait for an index, of a mean step. Where it is longer than a step would be at best without the
-- wait for late ranks (nccl_straggler), mending these brings less than that, until loading is faster, too. Nothing is
-- gained by faster loading alone. Ranks of a machine are one finding.
-- Does not apply to the late ranks themselves, where training waits for data already (data_bound, too_few_workers,
-- storage_bound), nor where workers were not recorded or training threads load data themselves.
--
-- needs: stragglers, _data_waits, data_wait_causes, _rank_jobs, recording_clocks, files
-- severity: medium where loading leaves 10 % of step time or more of the wait, low from 5 %
-- hint: what is lost to the late rank is lost to loading next, so it takes both to gain it
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.05 AS min_late, -- what late ranks cost, as a share of step time
            0.05 AS min_share, -- what is left of it by loading, as a share of step time
            0.1 AS medium_share, -- the same, from which on severity is medium
            0.33 AS max_waiting -- for an index, as a share of the time of workers
    ),
    late AS (
        SELECT
            jobs.job,
            arg_max(stragglers.ranks, stragglers.lost_ns) AS ranks,
            arg_max(stragglers.members, stragglers.lost_ns) AS members,
            arg_max(stragglers.processes, stragglers.lost_ns) AS processes,
            arg_max(stragglers.most_ns, stragglers.lost_ns) AS most_ns
        FROM stragglers
        JOIN _rank_jobs AS jobs ON jobs.recording = stragglers.recording AND jobs.pid = stragglers.pid
        CROSS JOIN thresholds
        WHERE stragglers.steps >= thresholds.min_steps
            AND stragglers.lost_ns >= thresholds.min_late * stragglers.step_ns
        GROUP BY jobs.job
    ),
    loads AS (
        SELECT
            waits.*,
            late.job,
            late.ranks,
            late.members,
            late.processes,
            waits.load_ns / waits.at_once AS batch_ns,
            greatest(waits.step_ns - late.most_ns, 0) AS reached_ns
        FROM _data_waits AS waits
        JOIN _rank_jobs AS jobs ON jobs.recording = waits.recording AND jobs.pid = waits.pid
        JOIN late ON late.job = jobs.job
        CROSS JOIN thresholds
        WHERE NOT waits.loads_in_process
            AND waits.at_once > 0
            AND waits.load_ns IS NOT NULL
            AND waits.steps >= thresholds.min_steps
    ),
    usual AS (
        SELECT job, median(batch_ns) AS batch_ns
        FROM loads
        GROUP BY job
    ),
    hidden AS (
        SELECT
            loads.*,
            loads.batch_ns - loads.reached_ns AS left_ns,
            CAST(ceil(loads.load_ns / greatest(loads.reached_ns, 0.01 * loads.step_ns)) AS BIGINT) AS needed,
            usual.batch_ns AS usual_ns
        FROM loads
        JOIN usual ON usual.job = loads.job
        LEFT JOIN data_wait_causes AS told
            ON told.recording = loads.recording
            AND told.pid = loads.pid
            AND told.tid = loads.tid
            AND told.cause <> 'late'
        CROSS JOIN thresholds
        WHERE loads.batch_ns - loads.reached_ns >= thresholds.min_share * loads.step_ns
            AND loads.waiting_share <= thresholds.max_waiting
            AND NOT list_contains(loads.processes, {'recording': loads.recording, 'pid': loads.pid})
            AND coalesce(told.lost_ns, 0) < thresholds.min_share * loads.step_ns
    ),
    machines AS (
        SELECT
            recording,
            count(*) AS processes,
            arg_max(pid, left_ns) AS pid,
            max(left_ns) AS left_ns,
            arg_max(step_ns, left_ns) AS step_ns,
            arg_max(batch_ns, left_ns) AS batch_ns,
            arg_max(reached_ns, left_ns) AS reached_ns,
            arg_max(usual_ns, left_ns) AS usual_ns,
            arg_max(at_once, left_ns) AS at_once,
            arg_max(waiting_share, left_ns) AS waiting_share,
            arg_max(needed, left_ns) AS needed,
            arg_max(reading, left_ns) AS reading,
            arg_max(load_cpu_ns / load_ns, left_ns) AS load_cpu_share,
            arg_max(steps, left_ns) AS steps,
            any_value(ranks) AS ranks,
            any_value(members) AS members,
            any_value(free_cpus) AS free_cpus,
            any_value(cpus) AS cpus,
            any_value(idle_measured) AS idle_measured,
            sum((needed - at_once) * load_cpu_ns / load_ns) AS more_cpus
        FROM hidden
        GROUP BY recording
    )
SELECT
    machines.recording, -- recording
    CASE
        WHEN processes = 1 THEN thread_label(machines.recording, pid, pid)
        ELSE format('host {}, {} ranks', coalesce(clocks.host, clocks.clock), processes)
    END AS subject, -- the machine whose workers need longest, or the rank
    CASE WHEN processes = 1 THEN pid END AS pid, -- its process, where it is one
    round(batch_ns / 1e6, 1) AS value, -- what its workers need for a batch
    'ms a batch' AS unit, -- unit of value
    CASE WHEN left_ns >= medium_share * step_ns THEN 'medium' ELSE 'low' END
        AS severity, -- by what mending the late rank alone cannot gain
    format('mean of {} steps: a batch takes {} at least with {} worker{}, {} of their time waiting for an index; ',
        steps, ms(batch_ns), at_once, CASE WHEN at_once = 1 THEN '' ELSE 's' END, pct(waiting_share))
        || CASE WHEN batch_ns >= 1.2 * usual_ns THEN format('those of the middle rank {}; ', ms(usual_ns)) ELSE '' END
        || format('a step takes {}, and would take {} at best without the wait for {} {}, if there were batches',
            ms(step_ns), ms(reached_ns), CASE WHEN members = 1 THEN 'rank' ELSE 'ranks' END, ranks)
        || _cpus_text(free_cpus, cpus, idle_measured) AS evidence, -- what it rests on
    CASE
        WHEN reading >= 0.5 THEN format('with the late rank: faster storage, or num_workers={}', needed)
        WHEN free_cpus IS NULL
            THEN format('with the late rank: num_workers={}, if CPUs are free, or cheaper samples', needed)
        WHEN free_cpus >= more_cpus THEN format('with the late rank: DataLoader(num_workers={})', needed)
        ELSE format(
            'with the late rank: make the samples cheaper; num_workers={} would do, but needs more CPUs than are free',
            needed
        )
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM data_wait_causes"' AS next_command -- to see more
FROM machines
CROSS JOIN thresholds
LEFT JOIN recording_clocks AS clocks ON clocks.recording = machines.recording
