-- What recording detail costs the job: measured by the job's own steps, with and without, else predicted.
--
-- Steps wholly inside a window of detail are compared with those of no window, of kind train. Each window is compared
-- with what lies next to it, so that a job that drifts counts as little as single slow steps: the difference of the
-- logarithms of the median of up to 10 steps on either side of its begin, and of its end. Their mean over windows is
-- the effect, with its interval at 95 % by Student's t; windows of several processes count once. Steps within 20 ms of
-- a window, in which probes are attached or taken away, count on neither side. Lost is what the effect makes of the
-- share of the time of train steps that was in windows.
--
-- The recorder measures the effect too, in turns that it makes for that, and says so in words in the footer. Of the two
-- the one that tells an effect counts, else the one whose interval is narrower. An interval that reaches far on both
-- sides of nothing tells nothing, and the text says so: it is no sign that detail costs nothing.
--
-- Recordings with detail all the time have nothing to compare: what a probed call costs, as it was measured before,
-- times the calls in train steps is a prediction. Where there are no steps, its share is of one CPU.
--
-- Beside that, what the scheduler measured: how long a training thread could run and the recorder had its CPU, which
-- happens where CPUs are short.
--
-- needs: steps, _step_counts, detail, detail_windows, overhead, overhead_by_process, step_work, preemption
CREATE TABLE detail_cost AS
WITH
    constants AS (
        SELECT
            10 AS most_steps, -- on either side of an edge that are compared
            3 AS min_windows, -- fewer do not tell
            0.05 AS unclear_effect, -- of a step: an interval about nothing that reaches so far does not tell
            20000000 AS edge_ns, -- [ns] around a window in which probes come and go
            0.005 AS min_cpu_share -- of the time of steps, from which the recorder's own CPU time is worth a word
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
    numbered AS (
        SELECT recording, number, start_ns, end_ns
        FROM detail_windows
    ),
    -- The window that each step lies in, or else behind: 0 before the first.
    placed AS (
        SELECT
            trained.*,
            coalesce(numbered.number, 0) AS number,
            numbered.end_ns AS window_end_ns
        FROM trained
        ASOF LEFT JOIN numbered ON numbered.recording = trained.recording AND numbered.start_ns <= trained.start_ns
    ),
    apart AS (
        SELECT placed.recording, placed.pid, placed.number, placed.start_ns, placed.dur_ns
        FROM placed
        LEFT JOIN numbered ON numbered.recording = placed.recording AND numbered.number = placed.number + 1
        CROSS JOIN constants
        WHERE placed.detail_share = 0
            AND coalesce(placed.start_ns >= placed.window_end_ns + constants.edge_ns, TRUE)
            AND coalesce(placed.end_ns <= numbered.start_ns - constants.edge_ns, TRUE)
    ),
    -- Of each edge, by the number of its window, the steps of either side by how near they are.
    sides AS (
        SELECT recording, pid, number, TRUE AS begins, TRUE AS detailed, dur_ns,
            row_number() OVER (PARTITION BY recording, pid, number ORDER BY start_ns) AS place
        FROM placed
        WHERE detailed
        UNION ALL
        SELECT recording, pid, number, FALSE, TRUE, dur_ns,
            row_number() OVER (PARTITION BY recording, pid, number ORDER BY start_ns DESC)
        FROM placed
        WHERE detailed
        UNION ALL
        SELECT recording, pid, number + 1, TRUE, FALSE, dur_ns,
            row_number() OVER (PARTITION BY recording, pid, number ORDER BY start_ns DESC)
        FROM apart
        UNION ALL
        SELECT recording, pid, number, FALSE, FALSE, dur_ns,
            row_number() OVER (PARTITION BY recording, pid, number ORDER BY start_ns)
        FROM apart
    ),
    edges AS (
        SELECT
            sides.recording,
            sides.pid,
            sides.number,
            sides.begins,
            ln(median(sides.dur_ns) FILTER (WHERE sides.detailed))
                - ln(median(sides.dur_ns) FILTER (WHERE NOT sides.detailed)) AS effect
        FROM sides
        CROSS JOIN constants
        WHERE sides.place <= constants.most_steps
        GROUP BY sides.recording, sides.pid, sides.number, sides.begins
    ),
    compared AS (
        SELECT recording, number, avg(effect) AS effect
        FROM (
            SELECT recording, pid, number, avg(effect) AS effect
            FROM edges
            WHERE effect IS NOT NULL
            GROUP BY recording, pid, number
        )
        GROUP BY recording, number
    ),
    means AS (
        SELECT
            compared.recording,
            count(*) AS windows,
            avg(compared.effect) AS effect,
            student_t(count(*) - 1) * stddev_samp(compared.effect) / sqrt(count(*)) AS error
        FROM compared
        CROSS JOIN constants
        GROUP BY compared.recording
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
    clearest AS (
        SELECT recording, method, turns, effect, least_effect, most_effect
        FROM effects
        QUALIFY row_number() OVER (
            PARTITION BY recording
            ORDER BY least_effect <= 0 AND most_effect >= 0, most_effect - least_effect, method
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
            coalesce(clearest.method, 'too few windows') AS method,
            coalesce(means.windows, 0) AS windows,
            clearest.turns,
            coalesce(shares.detailed_steps, 0) AS detailed_steps,
            coalesce(shares.other_steps, 0) AS other_steps,
            shares.other_ns,
            coalesce(shares.other_ns * (1 + clearest.effect), shares.detailed_ns) AS detailed_ns,
            clearest.effect,
            clearest.least_effect,
            clearest.most_effect,
            shares.on_share,
            shares.on_share * (1 - 1 / (1 + clearest.effect)) AS lost_share
        FROM (SELECT recording FROM detail WHERE windows IS NOT NULL) AS recordings
        LEFT JOIN means ON means.recording = recordings.recording
        LEFT JOIN clearest ON clearest.recording = recordings.recording
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
    predicted AS (
        SELECT
            overhead.recording,
            CASE WHEN sum(paid.train_ns) > 0 THEN 'predicted' ELSE 'predicted, of one CPU' END AS method,
            coalesce(sum(paid.cost_ns) / nullif(sum(paid.train_ns), 0), any_value(overhead.share)) AS lost_share
        FROM overhead
        LEFT JOIN paid ON paid.recording = overhead.recording AND paid.train_ns > 0
        WHERE overhead.hits > 0
            AND overhead.cost_ns IS NOT NULL
            AND overhead.recording NOT IN (SELECT recording FROM detail WHERE windows IS NOT NULL)
        GROUP BY overhead.recording
    ),
    costs AS (
        SELECT measured.*
        FROM measured
        UNION ALL BY NAME
        SELECT predicted.*, 1 AS on_share
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
        WHEN method = 'predicted'
            THEN format('predicted to cost {} of the time of a step', share_text(lost_share))
        ELSE format('predicted to cost {} of one CPU', share_text(lost_share))
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
LEFT JOIN displaced ON displaced.recording = costs.recording
ORDER BY costs.recording
