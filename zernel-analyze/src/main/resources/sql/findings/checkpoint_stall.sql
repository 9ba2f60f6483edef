-- What the training thread wrote to its checkpoints, and how long it waited for storage to have it.
--
-- Writes of less than 4 KiB that take no time are no events, so the bytes are a lower bound. What other threads write
-- is not in it, nor are recordings made before writes were events. `sync`, `syncfs` and `msync` name no file: they
-- write what there is, and count where they come after a checkpoint was opened.
--
-- needs: events, _checkpoint_opens
CREATE TABLE _checkpoint_writes AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    ts_ns, -- [ns] when
    ts_ns + coalesce(dur_ns, 0) AS end_ns, -- [ns] end of it
    CASE WHEN path IS NOT NULL THEN bytes END AS bytes, -- [bytes] written
    io_ns, -- [ns] blocked on storage; NULL where that is not known
    CASE WHEN name IN ('fsync', 'fdatasync', 'sync_file_range', 'sync', 'syncfs', 'msync') THEN dur_ns END
        AS sync_ns -- [ns] of it, where it waits until storage has what was written
FROM events
WHERE kind = 'io'
    AND (
        (NOT is_read(name) AND path IN (SELECT written_path FROM _checkpoint_opens))
        OR name IN ('sync', 'syncfs', 'msync')
    );

-- The same for each step with a checkpoint.
--
-- needs: _checkpoint_writes, checkpoint_steps
CREATE TABLE _saved AS
SELECT
    hits.recording, -- recording
    hits.pid, -- process
    hits.tid, -- training thread
    hits.step, -- number of the step
    CAST(sum(writes.bytes) AS BIGINT) AS bytes, -- [bytes] written
    CAST(coalesce(sum(writes.sync_ns), 0) AS BIGINT) AS sync_ns, -- [ns] in fsync, sync and the like
    count(writes.io_ns) > 0 AS blocking_seen -- whether the recording says how long storage blocked
FROM _checkpoint_writes AS writes
ASOF JOIN checkpoint_steps AS hits
    ON hits.recording = writes.recording
    AND hits.pid = writes.pid
    AND hits.tid = writes.tid
    AND hits.opened_ns <= writes.ts_ns
WHERE writes.ts_ns < hits.opened_ns + hits.dur_ns
GROUP BY hits.recording, hits.pid, hits.tid, hits.step
ORDER BY hits.recording, hits.pid, hits.tid, hits.step;

-- Training stops to write checkpoints. Steps in which a checkpoint is written take longer than the others.
--
-- Counted is the time of these steps over the median of the steps without, and what the two steps after each take more
-- or less than it: storage may still be busy, and a program that was ahead of the GPU first gets ahead again. In a
-- step that evaluates too, only what comes after the first file was opened, without the evaluation. A checkpoint after
-- the last step counts from when its first file was opened until the last write, at most as much as the others took;
-- where no write was seen, with what those took, if it comes as many steps after the one before as those do. The mean
-- step that all this is put beside is the one of all steps but warm-up, without evaluation; the step in the report's
-- first lines leaves steps with a checkpoint out too. The view checkpoint_steps says what is taken for a checkpoint.
-- Another thread hides the time in which storage blocks. To copy and to serialise takes a CPU in whatever thread, and
-- costs as much there unless a CPU is free, so the advice promises the blocked time only
-- (`advice_saves_ms_per_step`).
-- Does not apply to files that are read, to what another thread writes while training goes on, nor to the first step.
--
-- needs: checkpoint_steps, _checkpoint_opens, _checkpoint_writes, _saved, steps, step_states, _threads, _evaluations
-- severity: high from 25 % of step time, medium from 10 %
-- hint: a checkpoint that is written while training goes on costs only the copy to the host
-- lines: what such steps have more BY excess_ns WHERE thread = 'training' AND step_class IN ('train', 'checkpoint')
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps, without warm-up
            5 AS min_plain_steps, -- of them without a checkpoint; else the median of all counts
            0.3 AS min_excess, -- of a step with a checkpoint, as a share of the median step
            2 AS more_batches, -- fetched in a step that evaluates too
            0.1 AS uneven, -- number of steps between checkpoints: deviation of equal ones, or 1 step
            0.05 AS min_opening, -- to open its files, as a share of what a checkpoint takes
            0.005 AS min_blocked, -- that storage blocks, as a share of the same
            0.01 AS min_share -- what can be saved, as a share of step time
    ),
    -- Evaluation in steps with a checkpoint, after that was opened.
    evaluated AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            steps.step,
            sum(greatest(
                least(loops.end_ns, steps.end_ns) - greatest(loops.start_ns, hits.opened_ns),
                0
            )) AS after_ns
        FROM checkpoint_steps AS hits
        JOIN steps
            ON steps.recording = hits.recording
            AND steps.pid = hits.pid
            AND steps.tid = hits.tid
            AND steps.step = hits.step
        JOIN _evaluations AS loops
            ON loops.recording = steps.recording
            AND loops.pid = steps.pid
            AND loops.tid = steps.tid
            AND loops.end_ns > steps.start_ns
            AND loops.start_ns < steps.end_ns
        GROUP BY ALL
    ),
    marked AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            steps.step,
            steps.dur_ns,
            steps.evaluation_ns,
            steps.end_ns,
            steps.batches,
            steps.step_kind,
            states.storage_ns,
            hits.opened_ns,
            hits.opening_ns,
            hits.path,
            coalesce(evaluated.after_ns, 0) AS evaluated_ns
        FROM steps
        JOIN step_states AS states
            ON states.recording = steps.recording
            AND states.pid = steps.pid
            AND states.tid = steps.tid
            AND states.step = steps.step
        LEFT JOIN checkpoint_steps AS hits
            ON hits.recording = steps.recording
            AND hits.pid = steps.pid
            AND hits.tid = steps.tid
            AND hits.step = steps.step
        LEFT JOIN evaluated
            ON evaluated.recording = steps.recording
            AND evaluated.pid = steps.pid
            AND evaluated.tid = steps.tid
            AND evaluated.step = steps.step
        WHERE steps.step_kind <> 'warmup'
    ),
    threads AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS steps,
            sum(dur_ns - evaluation_ns) AS all_ns,
            max(step) AS last_step,
            max(end_ns) AS last_ns,
            median(batches) AS batches,
            CASE
                WHEN count(*) - count(path) >= any_value(thresholds.min_plain_steps)
                    THEN median(dur_ns) FILTER (path IS NULL)
                ELSE median(dur_ns)
            END AS median_ns,
            coalesce(median(storage_ns) FILTER (path IS NULL), 0) AS storage_ns,
            avg(dur_ns) FILTER (step_kind = 'train') AS train_ns
        FROM marked
        CROSS JOIN thresholds
        GROUP BY recording, pid, tid
        HAVING count(*) >= any_value(thresholds.min_steps)
    ),
    compared AS (
        SELECT
            marked.recording,
            marked.pid,
            marked.tid,
            marked.step,
            marked.dur_ns,
            marked.opening_ns,
            marked.path,
            threads.median_ns,
            CASE
                WHEN marked.batches >= threads.batches + thresholds.more_batches
                    THEN greatest(
                        least(marked.end_ns - marked.opened_ns, marked.dur_ns)
                            - marked.evaluated_ns - threads.median_ns,
                        0
                    )
                ELSE marked.dur_ns - threads.median_ns
            END AS excess_ns,
            greatest(marked.storage_ns - threads.storage_ns, 0) AS blocked_ns,
            coalesce(sum(
                CASE WHEN marked.step_kind = 'train' AND marked.path IS NULL THEN marked.dur_ns - threads.median_ns END
            ) OVER following, 0) AS later_ns,
            sum(greatest(marked.dur_ns - threads.median_ns, 0)) OVER (
                PARTITION BY marked.recording, marked.pid, marked.tid
            ) AS over_ns
        FROM marked
        JOIN threads ON threads.recording = marked.recording AND threads.pid = marked.pid AND threads.tid = marked.tid
        CROSS JOIN thresholds
        WINDOW following AS (
            PARTITION BY marked.recording, marked.pid, marked.tid
            ORDER BY marked.step
            ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING
        )
    ),
    hits AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            opening_ns,
            path,
            over_ns,
            excess_ns,
            blocked_ns,
            -- As a rule, not once: single steps are slow for other reasons.
            median(later_ns) OVER (PARTITION BY recording, pid, tid) AS later_ns,
            step - lag(step) OVER (PARTITION BY recording, pid, tid ORDER BY step) AS gap
        FROM compared
        CROSS JOIN thresholds
        WHERE path IS NOT NULL AND excess_ns >= thresholds.min_excess * median_ns
    ),
    stalls AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS stalls,
            least(sum(greatest(excess_ns + later_ns, 0)), any_value(over_ns)) / count(*) AS lost_ns,
            least(sum(greatest(excess_ns, excess_ns + later_ns)), any_value(over_ns)) / count(*) AS most_ns,
            max(step) AS last_step,
            coalesce(median(gap), max(step) - 1) AS gap,
            min(path) AS path,
            max(opening_ns) AS opening_ns,
            avg(writes.bytes) AS bytes,
            avg(writes.sync_ns) AS sync_ns,
            CASE WHEN bool_or(writes.blocking_seen) THEN avg(blocked_ns) END AS blocked_ns
        FROM hits
        LEFT JOIN _saved AS writes USING (recording, pid, tid, step)
        GROUP BY recording, pid, tid
    ),
    -- What the checkpoint after the last step took until it was written, and else as the others did, while the thread
    -- was seen.
    lasts AS (
        SELECT
            stalls.recording,
            stalls.pid,
            stalls.tid,
            any_value(stalls.lost_ns) AS lost_ns,
            any_value(threads.last_ns) AS last_ns,
            any_value(threads.median_ns) AS median_ns,
            any_value(threads.last_step) + 1 - any_value(stalls.last_step) AS steps_after,
            any_value(stalls.gap) AS gap,
            min(opens.ts_ns) AS opened_ns,
            sum(opens.dur_ns) AS opening_ns
        FROM stalls
        JOIN threads ON threads.recording = stalls.recording AND threads.pid = stalls.pid AND threads.tid = stalls.tid
        JOIN _checkpoint_opens AS opens
            ON opens.recording = stalls.recording
            AND opens.pid = stalls.pid
            AND opens.tid = stalls.tid
            AND opens.ts_ns >= threads.last_ns
        WHERE stalls.lost_ns > 0
        GROUP BY stalls.recording, stalls.pid, stalls.tid
    ),
    written AS (
        SELECT
            lasts.recording,
            lasts.pid,
            lasts.tid,
            max(writes.end_ns) - any_value(lasts.opened_ns) AS ns
        FROM lasts
        JOIN _checkpoint_writes AS writes
            ON writes.recording = lasts.recording
            AND writes.pid = lasts.pid
            AND writes.tid = lasts.tid
            AND writes.ts_ns >= lasts.opened_ns
        GROUP BY lasts.recording, lasts.pid, lasts.tid
    ),
    tails AS (
        SELECT
            lasts.recording,
            lasts.pid,
            lasts.tid,
            any_value(lasts.opening_ns) AS opening_ns,
            least(
                1,
                coalesce(any_value(written.ns), max(seen.last_ns) - any_value(lasts.last_ns)) / any_value(lasts.lost_ns)
            ) AS share
        FROM lasts
        JOIN _threads AS seen ON seen.recording = lasts.recording AND seen.pid = lasts.pid AND seen.tid = lasts.tid
        LEFT JOIN written ON written.recording = lasts.recording AND written.pid = lasts.pid AND written.tid = lasts.tid
        CROSS JOIN thresholds
        WHERE CASE
            WHEN written.ns IS NULL
                THEN abs(lasts.steps_after - lasts.gap) <= greatest(1, thresholds.uneven * lasts.gap)
            ELSE written.ns >= thresholds.min_excess * lasts.median_ns
        END
        GROUP BY lasts.recording, lasts.pid, lasts.tid
    ),
    counted AS (
        SELECT
            stalls.recording,
            stalls.pid,
            stalls.tid,
            stalls.stalls + CASE WHEN tails.share IS NULL THEN 0 ELSE 1 END AS stalls,
            threads.steps + CASE WHEN tails.share IS NULL THEN 0 ELSE 1 END AS steps,
            stalls.lost_ns * (stalls.stalls + coalesce(tails.share, 0)) AS lost_ns,
            stalls.most_ns * (stalls.stalls + coalesce(tails.share, 0)) AS most_ns,
            threads.all_ns + coalesce(threads.median_ns + tails.share * stalls.lost_ns, 0) AS all_ns,
            threads.median_ns,
            threads.train_ns,
            tails.share IS NOT NULL AS has_tail,
            greatest(stalls.opening_ns, coalesce(tails.opening_ns, 0)) AS opening_ns,
            stalls.path,
            stalls.bytes,
            stalls.sync_ns,
            CASE WHEN stalls.lost_ns > 0 THEN stalls.blocked_ns / greatest(stalls.blocked_ns, stalls.lost_ns) END
                AS blocked_share
        FROM stalls
        JOIN threads ON threads.recording = stalls.recording AND threads.pid = stalls.pid AND threads.tid = stalls.tid
        LEFT JOIN tails ON tails.recording = stalls.recording AND tails.pid = stalls.pid AND tails.tid = stalls.tid
    ),
    costs AS (
        SELECT
            recording,
            pid,
            tid,
            stalls,
            steps,
            median_ns,
            train_ns,
            has_tail,
            opening_ns,
            path,
            bytes,
            sync_ns,
            blocked_share,
            all_ns / steps AS step_ns,
            lost_ns / stalls AS each_ns,
            lost_ns / steps AS lost_ns,
            lost_ns * blocked_share / steps AS blocked_ns,
            most_ns / steps AS most_ns
        FROM counted
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    stalls AS value, -- steps with a checkpoint
    format('of {} steps', steps) AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] excess spread over all steps
    most_ns AS bound_ns, -- [ns] saved at most, when they cost nothing
    blocked_ns AS advice_saves_ns, -- [ns] blocked on storage, which another thread hides; NULL when not known
    format('each takes {} more than the median of {}: {} of the mean of all steps but warm-up, {}{}; {}; ',
        ms(each_ns), ms(median_ns), ms(lost_ns), ms(step_ns),
        coalesce(format(', which is {} without steps with a checkpoint', ms(train_ns)), ''),
        CASE
            WHEN path LIKE 'call of %' THEN path
            WHEN regexp_matches(parse_filename(path), '^\.?tmp\w*$') THEN 'folder ' || parse_dirpath(path)
            ELSE 'file ' || path
        END)
        || CASE
            WHEN bytes > 0 THEN format('{} written each, {}/s, {} of that time in fsync, sync and the like; ',
                size(bytes), size(bytes / (each_ns / 1e9)), pct(least(1, sync_ns / each_ns)))
            ELSE ''
        END
        || CASE
            WHEN opening_ns >= min_opening * each_ns
                THEN format('to open it takes up to {}, as where that truncates the last one; ', ms(opening_ns))
            ELSE ''
        END
        || CASE
            WHEN blocked_share >= min_blocked
                THEN format('storage blocks for {} of that time: another thread hides these {} per step, and '
                    || 'the other {} only as far as a CPU is free; ',
                    pct(blocked_share), ms(blocked_ns), ms(lost_ns - blocked_ns))
            ELSE ''
        END
        || CASE WHEN has_tail THEN 'the last one came after the last step; ' ELSE '' END
        AS evidence, -- what it rests on
    CASE
        WHEN opening_ns >= min_opening * each_ns
            THEN 'write while training goes on: torch.distributed.checkpoint.async_save, or a thread that saves a copy '
                || 'on the host; write to a new name, and rename it when it is complete'
        ELSE 'write while training goes on: torch.distributed.checkpoint.async_save, or a thread that saves a copy on '
            || 'the host'
    END AS advice, -- what to try
    format('step of {} with its checkpoints', ms(step_ns)) AS step_is, -- which mean step that is
    'zernel-analyze steps --slowest 10 {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
