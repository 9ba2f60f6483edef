-- What may come once a step, of each GPU process without regions that tell steps, and how sure that is.
--
-- A step has (almost) everything that a thread repeats: a layer, of which a step has many, lacks the rest of the model,
-- and of what comes in every tenth step all else is there ten times. So a marker is the most frequent kind of call that
-- comes evenly and leaves nearly all other kinds at least as frequent. Kinds that come in few parts of the thread's
-- calls, such as those of evaluation and of prompts, hardly count for that. Looked at are all calls of the thread and
-- the last half, quarter, eighth and sixteenth of them, because compiling and autotuning call much.
--
-- Confidence is the product of five shares. Regularity: how equal the time between two, or where a step has 8 calls or
-- more how equal their number (1 - 2 MAD / median, and the median against the mean). Completeness: kinds of call that a
-- step has. Sameness: calls of kinds that are there all the time. Coverage: 1 where half of the thread's calls or time
-- lie in the steps, down to 0.6. And what it is: 1 for backward passes, copies to the GPU and CUDA graphs, which come
-- with a batch, 0.95 for other copies and syncs, 0.9 for kernels, 0.85 for collectives. Launches of graphs, whichever,
-- are as good as regular by 0.7, and come first: a graph is a unit that the job made.
-- A thread that launches less than half of what its process launches meanwhile has no steps, unless it hands work to
-- the others: where they launch in turns, as forward and backward passes do.
--
-- needs: _stepping_threads, _repeated_calls, _launch_parts, _launched
CREATE TABLE _marker_ratings AS
WITH
    thresholds AS (
        SELECT
            20 AS min_gpu_calls, -- of a thread
            8 AS min_calls, -- of a marker
            0.85 AS min_complete, -- share of kinds of call that a step has
            8 AS few_calls, -- per step: below it, their number says little
            0.5 AS min_launch_share, -- of what the process launches, by the thread
            0.1 AS max_turn_share, -- of launches, that follow one of another thread, where threads take turns
            0.15 AS confidence_for_more, -- so much less is as good, where more calls were looked at
            0.6 AS sure, -- confidence from which on a more frequent marker wins
            0.5 AS min_confidence -- below it, there are no steps
    ),
    sizes AS (
        SELECT recording, pid, max(position) AS calls, max(ts_ns) - min(ts_ns) + 1 AS span_ns
        FROM _repeated_calls
        WHERE position IS NOT NULL
        GROUP BY ALL
    ),
    windows AS (
        SELECT
            sizes.recording,
            sizes.pid,
            sizes.calls,
            sizes.span_ns,
            sizes.calls - (sizes.calls >> halvings) AS before,
            greatest(24, (sizes.calls >> halvings) >> 12) AS parts,
            row_number() OVER () AS number
        FROM sizes
        CROSS JOIN (SELECT unnest(range(5)) AS halvings)
        CROSS JOIN thresholds
        WHERE sizes.calls >> halvings >= thresholds.min_gpu_calls
    ),
    cells AS (
        SELECT
            windows.number,
            calls.alike,
            calls.same,
            calls.sort,
            (calls.position - windows.before - 1) * windows.parts // (windows.calls - windows.before) AS part,
            any_value(windows.parts) AS parts,
            count(*) AS n,
            min(calls.what) AS what
        FROM _repeated_calls AS calls
        JOIN windows ON windows.recording = calls.recording AND windows.pid = calls.pid
        WHERE calls.position > windows.before
        GROUP BY ALL
    ),
    alikes AS (
        SELECT
            number,
            alike AS marker,
            sort,
            min(what) AS what,
            sum(n) AS n,
            count(DISTINCT part) / least(sum(n), any_value(parts)) AS presence,
            pow(count(DISTINCT part) / any_value(parts), 2) AS weight,
            count(DISTINCT same) AS kinds
        FROM cells
        GROUP BY ALL
    ),
    sameness AS (
        SELECT number, sum(n * presence) / sum(n) AS same_share
        FROM alikes
        GROUP BY ALL
    ),
    markers AS (
        SELECT number, marker, FALSE AS is_same, sort, what, n, weight
        FROM alikes
        UNION ALL
        SELECT
            cells.number,
            cells.same,
            TRUE,
            cells.sort,
            min(cells.what),
            sum(cells.n),
            pow(count(DISTINCT cells.part) / any_value(cells.parts), 2)
        FROM cells
        JOIN alikes ON alikes.number = cells.number AND alikes.marker = cells.alike
        WHERE cells.same IS NOT NULL AND alikes.kinds > 1
        GROUP BY ALL
    ),
    counts AS (
        SELECT number, n, sum(weight) AS weight
        FROM markers
        GROUP BY ALL
    ),
    completeness AS (
        SELECT
            own.number,
            own.n,
            sum(CASE WHEN others.n >= 0.9 * own.n THEN others.weight ELSE 0 END) / sum(others.weight) AS complete
        FROM counts AS own
        JOIN counts AS others ON others.number = own.number
        GROUP BY ALL
    ),
    most AS (
        SELECT completeness.number, max(completeness.n) AS n
        FROM completeness
        CROSS JOIN thresholds
        WHERE completeness.complete >= thresholds.min_complete
        GROUP BY ALL
    ),
    candidates AS (
        SELECT
            markers.number,
            markers.marker,
            markers.is_same,
            markers.sort,
            markers.what,
            completeness.complete,
            CASE
                WHEN markers.sort IN ('cuda_graph', 'backward', 'HtoD') THEN 1
                WHEN markers.sort IN ('cuda_copy', 'cuda_sync') THEN 0.95
                WHEN markers.sort = 'cuda_launch' THEN 0.9
                ELSE 0.85
            END AS worth
        FROM markers
        JOIN most ON most.number = markers.number
        JOIN completeness ON completeness.number = markers.number AND completeness.n = markers.n
        CROSS JOIN thresholds
        WHERE markers.n >= thresholds.min_calls AND markers.n <= 1.03 * most.n + 1
        QUALIFY row_number() OVER (
                PARTITION BY markers.number, round(12 * ln(markers.n))
                ORDER BY worth DESC, markers.n DESC, markers.what, markers.marker
            ) <= 4
            AND dense_rank() OVER (PARTITION BY markers.number ORDER BY round(12 * ln(markers.n)) DESC) <= 24
    ),
    gaps AS (
        SELECT
            candidates.number,
            candidates.marker,
            calls.ts_ns,
            calls.position,
            calls.ts_ns - lag(calls.ts_ns) OVER marker_order AS gap_ns,
            calls.position - lag(calls.position) OVER marker_order AS gap_calls
        FROM _repeated_calls AS calls
        JOIN windows ON windows.recording = calls.recording AND windows.pid = calls.pid
        JOIN candidates
            ON candidates.number = windows.number
            AND candidates.marker = CASE WHEN candidates.is_same THEN calls.same ELSE calls.alike END
        WHERE calls.position > windows.before
        WINDOW marker_order AS (PARTITION BY candidates.number, candidates.marker, calls.part ORDER BY calls.position)
    ),
    measured AS (
        SELECT
            number,
            marker,
            count(*) AS n,
            min(ts_ns) AS first_ns,
            max(ts_ns) AS last_ns,
            median(gap_calls) AS step_calls,
            max(position) - min(position) + median(gap_calls) AS covered_calls,
            max(ts_ns) - min(ts_ns) + median(gap_ns) AS covered_ns,
            greatest(1 - 2 * mad(gap_ns) / greatest(median(gap_ns), 1), 0)
                * sqrt(least(median(gap_ns) / avg(gap_ns), avg(gap_ns) / greatest(median(gap_ns), 1))) AS even_ns,
            greatest(1 - 2 * mad(gap_calls) / median(gap_calls), 0)
                * sqrt(least(median(gap_calls) / avg(gap_calls), avg(gap_calls) / median(gap_calls))) AS even_calls
        FROM gaps
        GROUP BY ALL
    ),
    rated AS (
        SELECT
            windows.recording,
            windows.pid,
            windows.before,
            measured.number,
            measured.marker,
            candidates.is_same,
            candidates.sort,
            candidates.what,
            measured.n,
            measured.first_ns,
            measured.last_ns,
            measured.step_calls,
            greatest(
                    measured.even_ns,
                    measured.even_calls * least(measured.step_calls / thresholds.few_calls, 1),
                    CASE WHEN candidates.sort = 'cuda_graph' AND NOT candidates.is_same THEN 0.7 ELSE 0 END
                )
                * candidates.complete
                * sameness.same_share
                * least(
                    0.6 + 0.8 * greatest(
                        measured.covered_calls / windows.calls,
                        measured.covered_ns / windows.span_ns
                    ),
                    1
                )
                * candidates.worth AS confidence
        FROM measured
        JOIN candidates ON candidates.number = measured.number AND candidates.marker = measured.marker
        JOIN windows ON windows.number = measured.number
        JOIN sameness ON sameness.number = measured.number
        CROSS JOIN thresholds
    ),
    compared AS (
        SELECT
            rated.*,
            coalesce(
                rated.confidence >= thresholds.sure
                    AND rated.n >= 0.9 * max(CASE WHEN rated.confidence >= thresholds.sure THEN rated.n END)
                        OVER (PARTITION BY rated.number),
                FALSE
            ) AS is_frequent,
            rated.sort = 'cuda_graph'
                AND NOT rated.is_same
                AND rated.confidence >= thresholds.min_confidence AS replays
        FROM rated
        CROSS JOIN thresholds
    ),
    chosen AS (
        SELECT compared.*
        FROM compared
        QUALIFY row_number() OVER (
            PARTITION BY number
            ORDER BY is_frequent DESC, replays DESC, round(confidence, 2) DESC, what, marker
        ) = 1
    ),
    nearest AS (
        SELECT
            chosen.*,
            chosen.confidence >= max(chosen.confidence) OVER (PARTITION BY chosen.recording, chosen.pid)
                - thresholds.confidence_for_more AS near_best
        FROM chosen
        CROSS JOIN thresholds
    ),
    best AS (
        SELECT
            recording,
            pid,
            before,
            marker,
            is_same,
            sort,
            what,
            n,
            first_ns,
            last_ns,
            step_calls,
            confidence
        FROM nearest
        QUALIFY row_number() OVER (PARTITION BY recording, pid ORDER BY near_best DESC, before) = 1
    ),
    shares AS (
        SELECT
            best.recording,
            best.pid,
            any_value(best.first_ns) AS first_ns,
            any_value(best.last_ns) AS last_ns,
            sum(CASE WHEN parts.tid = threads.tid THEN parts.calls ELSE 0 END) / sum(parts.calls) AS launch_share
        FROM best
        JOIN _stepping_threads AS threads ON threads.recording = best.recording AND threads.pid = best.pid
        JOIN _launch_parts AS parts
            ON parts.recording = best.recording
            AND parts.pid = best.pid
            AND parts.first_ns <= best.last_ns
            AND parts.last_ns >= best.first_ns
        WHERE NOT threads.has_backward
        GROUP BY best.recording, best.pid
    ),
    -- Threads that hand work to each other launch in turns, those that work side by side in between each other.
    turns AS (
        SELECT recording, pid, sum(CASE WHEN tid <> previous_tid THEN 1 ELSE 0 END) / count(*) AS turn_share
        FROM (
            SELECT
                launched.recording,
                launched.pid,
                launched.tid,
                lag(launched.tid) OVER (PARTITION BY launched.recording, launched.pid ORDER BY launched.at_ns)
                    AS previous_tid
            FROM _launched AS launched
            JOIN shares ON shares.recording = launched.recording AND shares.pid = launched.pid
            CROSS JOIN thresholds
            WHERE shares.launch_share < thresholds.min_launch_share
                AND launched.at_ns >= shares.first_ns
                AND launched.at_ns <= shares.last_ns
        )
        GROUP BY ALL
    )
SELECT
    threads.recording, -- recording
    threads.pid, -- process
    threads.tid, -- thread in which steps are looked for
    best.marker, -- what its calls have in common
    best.is_same, -- whether they look the same, not only much the same
    best.before, -- number of the last call before those that were looked at
    best.first_ns, -- [ns] when the first was called
    best.sort, -- what kind of call it is
    best.what, -- function or kernel
    best.n, -- calls
    CAST(best.step_calls AS BIGINT) AS step_calls, -- calls on the GPU from one to the next
    round(best.confidence, 2) AS confidence, -- how sure it is that it comes once a step, 0 to 1
    CASE
        WHEN best.n IS NULL THEN 'nothing comes often enough on the GPU'
        WHEN best.confidence < thresholds.min_confidence
            THEN format('nothing repeats evenly; nearest is {}, {} times, confidence {:.2f} of {:.2f} at least',
                best.what, best.n, best.confidence, thresholds.min_confidence)
        WHEN shares.launch_share < thresholds.min_launch_share
                AND coalesce(turns.turn_share > thresholds.max_turn_share, TRUE)
            THEN format('{} threads launch, none of them most: tid {} {}', threads.threads, threads.tid,
                pct(shares.launch_share))
    END AS why_not -- why it tells no steps, NULL where it does
FROM _stepping_threads AS threads
LEFT JOIN best ON best.recording = threads.recording AND best.pid = threads.pid
LEFT JOIN shares ON shares.recording = threads.recording AND shares.pid = threads.pid
LEFT JOIN turns ON turns.recording = threads.recording AND turns.pid = threads.pid
CROSS JOIN thresholds
