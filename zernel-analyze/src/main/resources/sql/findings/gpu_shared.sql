-- Another process uses the same GPU. Its kernels and those of the training take turns.
--
-- The driver says which share of the GPU's time each process had. While the GPU is never idle, the training waits for
-- the whole share of the others; where it is idle now and then, for as much less as it leaves the GPU idle itself.
-- Others count for as much of the training as samples list them in.
-- Samples are few and coarse, so the costs by the lowest and the highest are told too. Where the driver does not say
-- shares, what it costs is only known to be less than equal turns. A process of the same job counts, and is called so.
-- Does not apply to processes that only hold memory, under MPS, where kernels run side by side, nor to processes that
-- the driver does not list, as those of other virtual machines.
--
-- needs: events, _trained, training_threads, processes
-- severity: high from 25 % of step time, medium from 10 %; low where shares are not known
-- hint: nvidia-smi -c EXCLUSIVE_PROCESS keeps other processes away from a GPU
WITH
    thresholds AS (
        SELECT
            0.05 AS min_share, -- what it costs, as a share of step time
            0.5 AS min_busy, -- share of time in which the GPU is busy, where shares of processes are not known
            0.5 AS min_within, -- of the time that a sample speaks of, within training
            1000000000 AS period_ns, -- [ns] a sample speaks of the time since the one before, at most of so much
            0.95 AS most -- of the GPU's time that others can have while the training goes on
    ),
    samples AS (
        SELECT recording, device, pid, ts_ns, name, value, comm
        FROM events
        WHERE kind = 'gpu_process' AND name IN ('sm', 'memory_used') AND device IS NOT NULL AND pid IS NOT NULL
    ),
    rounds AS (
        SELECT
            times.recording,
            times.device,
            times.ts_ns,
            least(
                times.ts_ns - lag(times.ts_ns, 1, 0) OVER device_order,
                thresholds.period_ns
            ) AS span_ns,
            busy.percent
        FROM (SELECT DISTINCT recording, device, ts_ns FROM samples) AS times
        LEFT JOIN (
            SELECT recording, device, ts_ns, any_value(value) AS percent
            FROM events
            WHERE kind = 'gpu_sample' AND name = 'utilization'
            GROUP BY ALL
        ) AS busy
            ON busy.recording = times.recording
            AND busy.device = times.device
            AND busy.ts_ns = times.ts_ns
        CROSS JOIN thresholds
        WINDOW device_order AS (PARTITION BY times.recording, times.device ORDER BY times.ts_ns)
    ),
    devices AS (
        SELECT
            recording,
            device,
            bool_or(name = 'sm') AS says_shares,
            bool_or(comm LIKE 'nvidia-cuda-mps%') IS TRUE AS mps
        FROM samples
        GROUP BY ALL
    ),
    listed AS (
        SELECT recording, pid, mode(device ORDER BY device) AS device
        FROM samples
        GROUP BY ALL
    ),
    -- Where steps of some processes are regions, and of others only what repeats, the first are the training.
    trainings AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.start_ns,
            trained.end_ns,
            trained.step_ns,
            listed.device,
            devices.says_shares
        FROM _trained AS trained
        JOIN training_threads AS threads
            ON threads.recording = trained.recording
            AND threads.pid = trained.pid
            AND threads.tid = trained.tid
        JOIN listed ON listed.recording = trained.recording AND listed.pid = trained.pid
        JOIN devices ON devices.recording = listed.recording AND devices.device = listed.device
        WHERE NOT devices.mps
        QUALIFY threads.step_confidence
            >= max(threads.step_confidence) OVER (PARTITION BY listed.recording, listed.device)
    ),
    within AS (
        SELECT
            trainings.recording,
            trainings.pid,
            trainings.device,
            rounds.ts_ns,
            rounds.span_ns,
            rounds.percent,
            least(rounds.ts_ns, trainings.end_ns)
                - greatest(rounds.ts_ns - rounds.span_ns, trainings.start_ns) AS weight
        FROM trainings
        JOIN rounds ON rounds.recording = trainings.recording AND rounds.device = trainings.device
    ),
    loads AS (
        SELECT
            within.recording,
            within.pid,
            within.ts_ns,
            any_value(within.span_ns) AS span_ns,
            any_value(within.weight) AS weight,
            any_value(within.percent) AS percent,
            sum(CASE WHEN samples.name = 'sm' AND samples.pid <> within.pid THEN samples.value ELSE 0 END) AS others,
            sum(CASE WHEN samples.name = 'sm' AND samples.pid = within.pid THEN samples.value ELSE 0 END) AS own
        FROM within
        JOIN samples
            ON samples.recording = within.recording
            AND samples.device = within.device
            AND samples.ts_ns = within.ts_ns
        CROSS JOIN thresholds
        WHERE within.weight >= thresholds.min_within * within.span_ns
        GROUP BY within.recording, within.pid, within.ts_ns
        HAVING bool_or(samples.pid <> within.pid)
    ),
    shares AS (
        SELECT
            recording,
            pid,
            count(*) AS samples,
            sum(weight) AS weight,
            least(sum(weight * others) / sum(weight) / 100, any_value(thresholds.most)) AS others,
            least(min(others) / 100, any_value(thresholds.most)) AS least_others,
            least(max(others) / 100, any_value(thresholds.most)) AS most_others,
            sum(weight * own) / sum(weight) / 100 AS own,
            coalesce(sum(weight * percent) / sum(CASE WHEN percent IS NOT NULL THEN weight END) / 100,
                least(sum(weight * (own + others)) / sum(weight) / 100, 1)) AS busy
        FROM loads
        CROSS JOIN thresholds
        GROUP BY ALL
    ),
    -- A sample does not list who left since the one before, and so does not say how long they were still there.
    told AS (
        SELECT within.recording, within.pid, within.weight
        FROM within
        LEFT JOIN loads
            ON loads.recording = within.recording
            AND loads.pid = within.pid
            AND loads.ts_ns = within.ts_ns
        CROSS JOIN thresholds
        WHERE within.weight >= thresholds.min_within * within.span_ns
        QUALIFY loads.ts_ns IS NOT NULL
            OR lag(loads.ts_ns) OVER (PARTITION BY within.recording, within.pid ORDER BY within.ts_ns) IS NULL
    ),
    sampled AS (
        SELECT recording, pid, sum(weight) AS weight
        FROM told
        GROUP BY ALL
    ),
    companions AS (
        SELECT
            within.recording,
            within.pid,
            samples.pid AS other,
            arg_max(samples.comm, samples.ts_ns) AS comm,
            coalesce(sum(CASE WHEN samples.name = 'sm' THEN samples.value END), 0) AS percents,
            coalesce(max(CASE WHEN samples.name = 'memory_used' THEN samples.value END), 0)::DOUBLE AS memory_bytes
        FROM within
        JOIN samples
            ON samples.recording = within.recording
            AND samples.device = within.device
            AND samples.ts_ns = within.ts_ns
        WHERE samples.pid <> within.pid AND within.weight > 0
        GROUP BY within.recording, within.pid, samples.pid
    ),
    busiest AS (
        SELECT
            recording,
            pid,
            count(*) AS others,
            arg_max(other, (percents, memory_bytes, other)) AS other,
            arg_max(comm, (percents, memory_bytes, other)) AS comm,
            arg_max(memory_bytes, (percents, memory_bytes, other)) AS memory_bytes
        FROM companions
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            trainings.recording,
            trainings.pid,
            trainings.device,
            trainings.says_shares,
            trainings.step_ns,
            shares.samples,
            shares.others,
            shares.own,
            shares.busy,
            busiest.others AS other_processes,
            busiest.other,
            busiest.comm,
            busiest.memory_bytes,
            shares.weight / sampled.weight AS there,
            there * trainings.step_ns AS shared_ns,
            shares.own / greatest(shares.own + 1 - shares.busy, 0.01) AS waiting,
            shares.least_others,
            CASE
                WHEN NOT trainings.says_shares THEN shares.busy * busiest.others / (busiest.others + 1)
                -- One sample alone is trusted to a half.
                WHEN shares.samples = 1 THEN least(1.5 * shares.others, thresholds.most)
                ELSE shares.most_others
            END AS most_others
        FROM trainings
        JOIN shares ON shares.recording = trainings.recording AND shares.pid = trainings.pid
        JOIN sampled ON sampled.recording = trainings.recording AND sampled.pid = trainings.pid
        JOIN busiest ON busiest.recording = trainings.recording AND busiest.pid = trainings.pid
        CROSS JOIN thresholds
    ),
    judged AS (
        SELECT
            costs.*,
            CASE WHEN says_shares THEN shared_ns * others * least(waiting, 1) END AS lost_ns,
            CASE
                WHEN NOT says_shares THEN 0
                WHEN samples = 1 THEN 0.5 * shared_ns * others * least(waiting, 1)
                ELSE shared_ns * least_others * least(waiting, 1)
            END AS least_ns,
            shared_ns * most_others AS most_ns,
            format('pid {} ({})', other, coalesce(comm, 'its name is not known'))
                || CASE WHEN other_processes > 1 THEN format(' and {} more', other_processes - 1) ELSE '' END AS name
        FROM costs
    ),
    related AS (
        SELECT
            judged.*,
            (
                theirs.ppid = judged.pid
                OR ours.ppid = judged.other
                OR (ours.ppid = theirs.ppid AND ours.ppid > 1)
                OR ours.cmdline = theirs.cmdline
            ) IS TRUE AS same_job,
            theirs.pid IS NOT NULL AND theirs.ppid IS NOT NULL AS recorded
        FROM judged
        LEFT JOIN processes AS ours ON ours.recording = judged.recording AND ours.pid = judged.pid
        LEFT JOIN processes AS theirs ON theirs.recording = judged.recording AND theirs.pid = judged.other
    )
SELECT
    recording, -- recording
    pid, -- process that trains
    round(100 * CASE WHEN says_shares THEN others ELSE busy END, 1) AS value, -- percent of the GPU's time
    format(CASE WHEN says_shares THEN '% of GPU {} go to {}' ELSE '% of GPU {} are used, also by {}' END, device, name)
        AS unit, -- unit of value
    CASE WHEN NOT says_shares THEN 'low' END AS severity, -- low where shares are not known
    step_ns, -- [ns] step
    lost_ns, -- [ns] waiting for others; NULL where shares are not known
    most_ns AS bound_ns, -- [ns] saved at most, by the highest sample
    format('{} on GPU {} is {}; ', name, device,
        CASE WHEN same_job THEN 'a process of the same job' WHEN recorded THEN 'of another job' ELSE 'not recorded' END)
        || CASE
            WHEN says_shares
                THEN format('while training, by {} samples of NVML, it has {} of the time and this process {}', samples,
                    pct(others), pct(own))
                    || CASE WHEN there < 0.995 THEN format(', for {} of the training', pct(there)) ELSE '' END
            ELSE format('NVML lists it in {} samples while training, without its share of the time', samples)
        END
        || format('; the GPU is busy {} of the time; it holds {}; costs {} to {} of a mean step of {}; ', pct(busy),
            size(memory_bytes), ms(least_ns), ms(most_ns), ms(step_ns)) AS evidence, -- what it rests on
    CASE
        WHEN same_job
            THEN 'run it on another GPU (CUDA_VISIBLE_DEVICES) or after the training; if it must be there, under MPS'
        ELSE 'run on another GPU (CUDA_VISIBLE_DEVICES), or keep others away: nvidia-smi -c EXCLUSIVE_PROCESS, or '
            || 'whole GPUs from the job scheduler'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM gpu_process_usage"' AS next_command -- to see more
FROM related
CROSS JOIN thresholds
WHERE CASE
        WHEN says_shares THEN lost_ns >= thresholds.min_share * step_ns
        ELSE busy >= thresholds.min_busy
    END
