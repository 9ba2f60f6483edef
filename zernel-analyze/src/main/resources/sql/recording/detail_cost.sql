-- What recording detail costs the job: measured by the job's own steps, with and without, else predicted.
--
-- Of each window, and of what lies next to it, so that a drift of the job does not count: the time of steps of kind
-- train with detail is held against what as many took without. All the time counts, of a step that lies there in part
-- that part: a program that is ahead of its GPU has short steps and one that waits for all of them, and detail makes
-- the short ones longer and the long one as much shorter. Of a step longer than that which one in forty exceeds only so
-- much counts, so that what seldom happens counts little, as do waits that are as rare. The effect is the ratio of
-- these times over all windows, its interval at 95 % by the jackknife of its logarithm; windows of several processes
-- count once. Time within 20 ms of a window, in which probes are attached or taken away, counts on neither side, nor
-- do the ten steps after a change, or a third of a short time: until then a program gets ahead, or falls back. Lost is
-- what the effect makes of the share of the time of train steps that was in windows.
--
-- The recorder measures the effect too, in turns that it makes for that, and says so in words in the footer. The one
-- counts that rests on more turns: a part of a recording holds few of them. An interval that reaches far on both sides
-- of nothing tells nothing, and the text says so: it is no sign that detail costs nothing.
--
-- Recordings with detail all the time have nothing to compare: what a probed call costs, as it was measured before,
-- times the calls in train steps is a prediction, and so is what a system call costs times those. It is the least:
-- calls were measured one after the other, and one that comes after other code finds less in the caches, and leaves
-- less there. Where there are no steps, its share is of one CPU. Recordings with windows have system calls all the
-- time: what these cost is predicted there too, and said besides. So is what they cost a thread that trains no model,
-- as steps may wait for it.
--
-- Beside that, what the scheduler measured: how long a training thread could run and the recorder had its CPU, which
-- happens where CPUs are short.
--
-- needs: steps, _step_counts, detail, detail_windows, overhead, overhead_by_process, step_work, preemption
-- needs: system_call_cost
CREATE TABLE detail_cost AS
WITH
    constants AS (
        SELECT
            3 AS min_windows, -- fewer do not tell
            10 AS settling_steps, -- that do not count after a change, and the fewest that are compared
            3 AS settling_part, -- of a short time, which do not count then
            4000000000 AS longest_ns, -- [ns] of a long window that is compared at either end
            0.05 AS unclear_effect, -- of a step: an interval about nothing that reaches so far does not tell
            20000000 AS edge_ns, -- [ns] around a window in which probes come and go
            0.005 AS min_cpu_share, -- of the time of steps, from which the recorder's own CPU time is worth a word
            0.001 AS min_call_share, -- from which what system calls cost is worth one
            0.001 AS least_share, -- of a step or a CPU, that is shown of what is predicted
            0.01 AS min_other_share, -- from which it is worth one of a thread that trains no model
            1000 AS min_calls_per_s -- from which it is worth one that their cost is not known
    ),
    trained AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.start_ns,
            steps.end_ns,
            steps.dur_ns,
            steps.detailed,
            steps.detail_share
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        WHERE steps.step_kind = 'train'
            AND steps.dur_ns > 0
            AND steps.recording IN (SELECT recording FROM detail WHERE windows IS NOT NULL)
    ),
    paces AS (
        SELECT
            trained.recording,
            trained.pid,
            min(trained.start_ns) AS first_ns,
            max(trained.end_ns) AS last_ns,
            constants.settling_steps * CAST(median(trained.dur_ns) AS BIGINT) AS few_ns,
            quantile_cont(trained.dur_ns, 0.975) AS longest_step_ns
        FROM trained
        CROSS JOIN constants
        GROUP BY trained.recording, trained.pid, constants.settling_steps
    ),
    -- Each window, with where what is around it ends: the one before, the next, or the job's steps.
    around AS (
        SELECT
            detail_windows.recording,
            paces.pid,
            detail_windows.number,
            paces.few_ns,
            detail_windows.start_ns,
            detail_windows.end_ns,
            coalesce(lag(detail_windows.end_ns) OVER places + constants.edge_ns, paces.first_ns) AS before_ns,
            coalesce(lead(detail_windows.start_ns) OVER places - constants.edge_ns, paces.last_ns) AS after_ns,
            constants.*
        FROM detail_windows
        JOIN paces ON paces.recording = detail_windows.recording
        CROSS JOIN constants
        WINDOW places AS (PARTITION BY detail_windows.recording, paces.pid ORDER BY detail_windows.number)
    ),
    settled AS (
        SELECT
            around.*,
            start_ns + least(few_ns, (end_ns - start_ns) // settling_part) AS with_from_ns,
            before_ns + least(few_ns, (start_ns - edge_ns - before_ns) // settling_part) AS before_from_ns,
            start_ns - edge_ns AS before_to_ns,
            end_ns + edge_ns + least(few_ns, (after_ns - end_ns - edge_ns) // settling_part) AS after_from_ns
        FROM around
    ),
    -- What is compared at each edge of a window.
    spans AS (
        SELECT recording, pid, number, TRUE AS begins, TRUE AS detailed,
            with_from_ns AS from_ns,
            least(end_ns, with_from_ns + longest_ns) AS to_ns
        FROM settled
        UNION ALL
        SELECT recording, pid, number, TRUE, FALSE,
            greatest(
                before_from_ns,
                before_to_ns - greatest(few_ns, least(end_ns - with_from_ns, longest_ns))
            ),
            before_to_ns
        FROM settled
        UNION ALL
        SELECT recording, pid, number, FALSE, TRUE, greatest(with_from_ns, end_ns - longest_ns), end_ns
        FROM settled
        UNION ALL
        SELECT recording, pid, number, FALSE, FALSE,
            after_from_ns,
            least(after_ns, after_from_ns + greatest(few_ns, least(end_ns - with_from_ns, longest_ns)))
        FROM settled
    ),
    -- The steps before each one, and how long they took, of a long one as much as counts.
    before AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.start_ns,
            trained.end_ns,
            trained.dur_ns,
            least(trained.dur_ns, paces.longest_step_ns) AS counted_ns,
            row_number() OVER places - 1 AS steps_before,
            sum(least(trained.dur_ns, paces.longest_step_ns)) OVER places
                - least(trained.dur_ns, paces.longest_step_ns) AS ns_before
        FROM trained
        JOIN paces ON paces.recording = trained.recording AND paces.pid = trained.pid
        WINDOW places AS (PARTITION BY trained.recording, trained.pid ORDER BY trained.start_ns)
    ),
    moments AS (
        SELECT recording, pid, number, begins, detailed, from_ns AS at_ns, -1 AS sign
        FROM spans
        WHERE from_ns < to_ns
        UNION ALL
        SELECT recording, pid, number, begins, detailed, to_ns, 1
        FROM spans
        WHERE from_ns < to_ns
    ),
    placed AS (
        SELECT
            moments.*,
            coalesce(before.steps_before, 0) AS steps_before,
            coalesce(before.ns_before, 0) AS ns_before,
            coalesce(before.counted_ns, 0) AS counted_ns,
            coalesce((least(moments.at_ns, before.end_ns) - before.start_ns) / before.dur_ns, 0) AS part
        FROM moments
        ASOF LEFT JOIN before
            ON before.recording = moments.recording
            AND before.pid = moments.pid
            AND before.start_ns <= moments.at_ns
    ),
    sums AS (
        SELECT
            recording,
            pid,
            number,
            begins,
            detailed,
            sum(sign * (steps_before + part)) AS steps,
            sum(sign * (ns_before + part * counted_ns)) AS ns
        FROM placed
        GROUP BY recording, pid, number, begins, detailed
    ),
    edges AS (
        SELECT
            recording,
            pid,
            number,
            begins,
            any_value(ns) FILTER (WHERE detailed) AS with_ns,
            any_value(steps) FILTER (WHERE detailed) AS with_steps,
            any_value(ns / steps) FILTER (WHERE NOT detailed) AS without_ns
        FROM sums
        WHERE steps > 0
        GROUP BY recording, pid, number, begins
    ),
    compared AS (
        SELECT recording, number, sum(with_ns) AS with_ns, sum(with_steps * without_ns) AS without_ns
        FROM edges
        WHERE with_ns IS NOT NULL
            AND without_ns IS NOT NULL
        GROUP BY recording, number
    ),
    -- The logarithm of the ratio of all windows but this one.
    left_out AS (
        SELECT
            recording,
            with_ns,
            without_ns,
            ln(
                nullif(sum(with_ns) OVER (PARTITION BY recording) - with_ns, 0)
                / nullif(sum(without_ns) OVER (PARTITION BY recording) - without_ns, 0)
            ) AS logarithm
        FROM compared
    ),
    means AS (
        SELECT
            left_out.recording,
            count(*) AS windows,
            ln(sum(left_out.with_ns) / sum(left_out.without_ns)) AS effect,
            student_t(count(*) - 1) * sqrt((count(*) - 1) * var_pop(left_out.logarithm)) AS error
        FROM left_out
        CROSS JOIN constants
        GROUP BY left_out.recording
        HAVING count(*) >= any_value(constants.min_windows)
    ),
    -- "detail makes a step 23.0 % longer (95 %: 1.1 to 49.7 %, 3 turns)"
    said AS (
        SELECT
            recording,
            regexp_extract(
                why,
                'makes a step (-?[0-9.]+) % longer \(95 %: (-?[0-9.]+) to (-?[0-9.]+) %, ([0-9]+) turns\)',
                ['effect', 'least', 'most', 'turns']
            ) AS words
        FROM detail
    ),
    turns AS (
        SELECT
            recording,
            CAST(words.turns AS INTEGER) AS turns,
            CAST(words.effect AS DOUBLE) / 100 AS effect,
            CAST(words.least AS DOUBLE) / 100 AS least_effect,
            CAST(words.most AS DOUBLE) / 100 AS most_effect
        FROM said
        WHERE words.turns <> ''
    ),
    effects AS (
        SELECT
            recording,
            'measured' AS method,
            windows AS turns,
            exp(effect) - 1 AS effect,
            exp(effect - error) - 1 AS least_effect,
            exp(effect + error) - 1 AS most_effect
        FROM means
        UNION ALL BY NAME
        SELECT turns.*, 'measured by the recorder' AS method
        FROM turns
    ),
    best AS (
        SELECT recording, method, turns, effect, least_effect, most_effect
        FROM effects
        QUALIFY row_number() OVER (
            PARTITION BY recording
            ORDER BY turns DESC, method
        ) = 1
    ),
    shares AS (
        SELECT
            recording,
            count(*) FILTER (WHERE detailed) AS detailed_steps,
            median(dur_ns) FILTER (WHERE detailed) AS detailed_ns,
            count(*) FILTER (WHERE detail_share = 0) AS other_steps,
            median(dur_ns) FILTER (WHERE detail_share = 0) AS other_ns,
            sum(detail_share * dur_ns) / sum(dur_ns) AS on_share
        FROM trained
        GROUP BY recording
    ),
    measured AS (
        SELECT
            recordings.recording,
            coalesce(best.method, 'too few windows') AS method,
            coalesce(means.windows, 0) AS windows,
            best.turns,
            coalesce(shares.detailed_steps, 0) AS detailed_steps,
            coalesce(shares.other_steps, 0) AS other_steps,
            shares.other_ns,
            coalesce(shares.other_ns * (1 + best.effect), shares.detailed_ns) AS detailed_ns,
            best.effect,
            best.least_effect,
            best.most_effect,
            shares.on_share,
            shares.on_share * (1 - 1 / (1 + best.effect)) AS lost_share
        FROM (SELECT recording FROM detail WHERE windows IS NOT NULL) AS recordings
        LEFT JOIN means ON means.recording = recordings.recording
        LEFT JOIN best ON best.recording = recordings.recording
        LEFT JOIN shares ON shares.recording = recordings.recording
    ),
    -- What each process pays in train steps: its launches there tell how much of its calls that is.
    paid AS (
        SELECT
            calls.recording,
            calls.pid,
            any_value(calls.events) * any_value(overhead.cost_ns) * coalesce(
                sum(work.launches) FILTER (WHERE work.step_kind = 'train') / nullif(sum(work.launches), 0),
                sum(work.dur_ns) FILTER (WHERE work.step_kind = 'train') / sum(work.dur_ns)
            ) AS cost_ns,
            sum(work.dur_ns) FILTER (WHERE work.step_kind = 'train') AS train_ns
        FROM overhead_by_process AS calls
        JOIN overhead ON overhead.recording = calls.recording
        JOIN step_work AS work ON work.recording = calls.recording AND work.pid = calls.pid
        GROUP BY calls.recording, calls.pid
    ),
    functions AS (
        SELECT
            overhead.recording,
            sum(paid.cost_ns) / nullif(sum(paid.train_ns), 0) AS step_share,
            any_value(overhead.share) AS share
        FROM overhead
        LEFT JOIN paid ON paid.recording = overhead.recording AND paid.train_ns > 0
        WHERE overhead.hits > 0
            AND overhead.cost_ns IS NOT NULL
        GROUP BY overhead.recording
    ),
    calls AS (
        SELECT
            recording,
            calls,
            cost_ns,
            calls_per_s,
            step_share,
            share,
            other_tid,
            other_tid_calls,
            other_tid_share
        FROM system_call_cost
    ),
    predicted AS (
        SELECT
            coalesce(functions.recording, calls.recording) AS recording,
            coalesce(functions.step_share, calls.step_share) IS NOT NULL AS has_steps,
            CASE WHEN has_steps THEN 'predicted' ELSE 'predicted, of one CPU' END AS method,
            CASE
                WHEN has_steps THEN coalesce(functions.step_share, 0) + coalesce(calls.step_share, 0)
                ELSE coalesce(functions.share, 0) + coalesce(calls.share, 0)
            END AS lost_share
        FROM functions
        FULL JOIN (SELECT * FROM calls WHERE cost_ns IS NOT NULL) AS calls ON calls.recording = functions.recording
        WHERE coalesce(functions.recording, calls.recording)
            NOT IN (SELECT recording FROM detail WHERE windows IS NOT NULL)
    ),
    costs AS (
        SELECT measured.*
        FROM measured
        UNION ALL BY NAME
        SELECT predicted.* EXCLUDE (has_steps), 1 AS on_share
        FROM predicted
    ),
    displaced AS (
        SELECT recording, max(recorder_ns / nullif(wall_ns, 0)) AS cpu_share
        FROM preemption
        WHERE steps > 0
        GROUP BY recording
    )
SELECT
    costs.recording, -- recording
    method, -- measured; measured by the recorder; too few windows; predicted; or predicted, of one CPU, without steps
    windows, -- windows of detail that were compared with what is next to them
    detailed_steps, -- steps of kind train wholly in windows
    other_steps, -- steps of kind train without any detail
    other_ns, -- [ns] median of these
    detailed_ns, -- [ns] how long one is with detail; with too few windows the median
    effect, -- by what share that is longer
    least_effect, -- the same at least, at 95 %
    most_effect, -- the same at most, at 95 %
    on_share, -- share of the time of train steps with detail, 0 to 1
    lost_share, -- share of the time of train steps that the job lost; of one CPU where there are no steps
    CASE
        WHEN method LIKE 'measured%' THEN CASE
                WHEN least_effect > 0 OR most_effect < 0
                    THEN format('detail made a step {} {}',
                        share_text(abs(effect)), CASE WHEN effect < 0 THEN 'shorter' ELSE 'longer' END)
                WHEN most_effect - least_effect < 2 * constants.unclear_effect
                    THEN 'detail made no measurable difference to a step'
                ELSE format('what detail cost a step could not be told, from {} shorter to {} longer',
                    share_text(abs(least_effect)), share_text(most_effect))
            END
            || format(
                ' ({}{}, 95 %: {}..{}) and was on for {} of the time of steps: the job lost {}',
                coalesce(format('{} to {}, ', ms(other_ns), ms(detailed_ns)), ''),
                CASE
                    WHEN method = 'measured' THEN format('{} against {} steps', detailed_steps, other_steps)
                    ELSE format('{} turns of the recorder', turns)
                END,
                rtrim(share_text(least_effect), ' %'),
                share_text(most_effect),
                coalesce(share_text(on_share), 'some'),
                CASE
                    WHEN on_share IS NULL THEN 'as much of that'
                    WHEN least_effect <= 0 AND most_effect >= 0
                        THEN format('at most {}', share_text(on_share * (1 - 1 / (1 + most_effect))))
                    ELSE share_text(greatest(lost_share, 0))
                END)
        WHEN method = 'too few windows'
            THEN format('detail was on for {} of the time of steps, in too few windows to tell what it cost: '
                || '{} step{} with it{}, {} without{}',
                coalesce(share_text(on_share), 'some'),
                detailed_steps,
                CASE WHEN detailed_steps = 1 THEN '' ELSE 's' END,
                coalesce(format(' (median {})', ms(detailed_ns)), ''),
                other_steps,
                coalesce(format(' ({})', ms(other_ns)), ''))
        ELSE CASE
                WHEN lost_share < constants.least_share THEN format('less than {}', share_text(least_share))
                ELSE format('predicted to cost at least {}', share_text(lost_share))
            END
            || CASE WHEN method = 'predicted' THEN ' of the time of a step' ELSE ' of one CPU' END
    END
        || CASE
            WHEN method NOT LIKE 'predicted%' AND calls.step_share >= constants.min_call_share
                THEN format('; its system calls, with and without detail, are predicted to cost at least {} of the '
                    || 'time of a step', share_text(calls.step_share))
            WHEN method LIKE 'predicted%' AND calls.cost_ns IS NULL AND calls.calls_per_s >= constants.min_calls_per_s
                THEN format(' without its {:,} system calls, whose cost was not measured', calls.calls)
            ELSE ''
        END
        || CASE
            WHEN calls.other_tid_share >= constants.min_other_share
                THEN format('; the {:,} system calls of thread {}, which trains no model, are predicted to cost it '
                    || 'at least {} of its time',
                    calls.other_tid_calls,
                    calls.other_tid,
                    share_text(calls.other_tid_share))
            ELSE ''
        END
        || CASE
            WHEN displaced.cpu_share >= constants.min_cpu_share
                THEN format('; the recorder had the CPU of the training thread for {} of the time',
                    share_text(displaced.cpu_share))
            ELSE ''
        END AS text, -- the same in words
    displaced.cpu_share -- share of steps in which the training thread could run and the recorder had its CPU, 0 to 1
FROM costs
CROSS JOIN constants
LEFT JOIN calls ON calls.recording = costs.recording
LEFT JOIN displaced ON displaced.recording = costs.recording
ORDER BY costs.recording
