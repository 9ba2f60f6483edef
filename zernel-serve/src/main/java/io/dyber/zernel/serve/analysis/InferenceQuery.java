package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.Cursor;
import io.dyber.zernel.analyze.Database;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The questions to the analyzer's SQL library about steps, their phases and arrivals at collectives.
final class InferenceQuery {
    /// The columns follow [Inferred.Step].
    private static final String STEPS = """
            SELECT
                pid, start_ns, end_ns,
                data_loading_ns, gpu_compute_ns, nccl_collective_ns, optimizer_step_ns, unknown_ns
            FROM steps
            WHERE end_ns <= ?
            ORDER BY end_ns
            """;

    /// A step is settled when its thread has begun the next one: until then a second optimizer may be part of it, and the
    /// end of one that follows from what repeats is a guess.
    private static final String GROWING_STEPS = """
            SELECT
                pid, start_ns, end_ns,
                data_loading_ns, gpu_compute_ns, nccl_collective_ns, optimizer_step_ns, unknown_ns,
                tid, step, source,
                CASE
                    WHEN lead(step) OVER (PARTITION BY pid, tid ORDER BY step) IS NOT NULL THEN TRUE
                    WHEN source LIKE 'periodicity of %' THEN FALSE
                    WHEN source = 'Optimizer.step' AND max(batches) OVER (PARTITION BY pid, tid) > 0
                        THEN coalesce(waits.last_ns >= end_ns, FALSE)
                    ELSE TRUE
                END AS settled,
                count(*) OVER (PARTITION BY pid, tid) AS steps,
                max(end_ns) OVER (PARTITION BY pid, tid) - min(start_ns) OVER (PARTITION BY pid, tid) AS span_ns
            FROM steps
            LEFT JOIN (
                SELECT pid, tid, max(ts_ns) AS last_ns
                FROM events
                WHERE kind = 'region' AND name LIKE 'enumerate(DataLoader)#%'
                GROUP BY ALL
            ) AS waits USING (pid, tid)
            ORDER BY end_ns
            """;

    private static final String ARRIVALS = """
            WITH
                whole AS (
                    SELECT *, max(ranks) OVER (PARTITION BY comm_id) AS seen_ranks
                    FROM collective_arrivals
                    WHERE ranks > 1 AND skew_ns IS NOT NULL AND late_ns <= ?
                ),
                told AS (
                    SELECT * FROM whole WHERE %s
                ),
                arrivals AS (
                    SELECT NULL AS pid, late_ns AS at_ns, skew_ns AS nanos, name
                    FROM told
                    UNION ALL
                    SELECT calls.pid, calls.ts_ns, calls.at_ns - told.first_ns, NULL
                    FROM rank_arrivals AS calls
                    JOIN told ON told.comm_id = calls.comm_id AND told.number = calls.number
                )
            SELECT pid, CAST(at_ns AS BIGINT), CAST(nanos AS BIGINT), name
            FROM arrivals
            ORDER BY at_ns
            """;

    /// Those that no rank will come to any more, and that have the same number in all ranks whatever came before: not in
    /// jobs without NCCL, and on communicators with sends and receives, where numbers are counted in what is looked at.
    private static final String GROWING_ARRIVALS = """
            late_ns > ?
                AND ranks >= least(nranks, seen_ranks)
                AND name <> 'torch.distributed'
                AND comm_id NOT IN (
                    SELECT comm_id
                    FROM events
                    WHERE kind = 'nccl' AND name IN ('ncclSend', 'ncclRecv') AND comm_id IS NOT NULL
                )
            """;

    private InferenceQuery() {}

    /// A step of a thread of a recording that grows.
    ///
    /// @param number of the step in what was looked at, from 1
    /// @param source what says that it is a step
    /// @param settled whether no later event changes it
    /// @param count steps of the thread in what was looked at
    /// @param spanNanos from the begin of the first of them to the end of the last
    record ThreadStep(
            Inferred.Step step, long tid, long number, String source, boolean settled, long count, long spanNanos) {}

    /// Steps that ended up to a moment, by their end.
    static List<Inferred> steps(Database database, long untilNanos) {
        List<Inferred> steps = new ArrayList<>();
        try (Cursor row = database.stream(STEPS, untilNanos)) {
            while (row.next()) {
                steps.add(step(row));
            }
        }
        return steps;
    }

    /// Steps of a recording that grows, by their end.
    static List<ThreadStep> growingSteps(Database database) {
        List<ThreadStep> steps = new ArrayList<>();
        try (Cursor row = database.stream(GROWING_STEPS)) {
            while (row.next()) {
                steps.add(new ThreadStep(step(row), row.integer(8, 0), row.integer(9, 0), String.valueOf(row.text(10)),
                        row.flag(11), row.integer(12, 0), row.integer(13, 0)));
            }
        }
        return steps;
    }

    private static Inferred.Step step(Cursor row) {
        return new Inferred.Step(row.integer(0, 0), row.integer(1, 0), row.integer(2, 0), row.integer(3, 0),
                row.integer(4, 0), row.integer(5, 0), row.integer(6, 0), row.integer(7, 0));
    }

    /// Arrivals at collectives that two ranks or more have called, the last one up to a moment, by time.
    static List<Inferred> arrivals(Database database, long untilNanos) {
        return arrivals(database.stream(ARRIVALS.formatted("TRUE"), untilNanos));
    }

    /// The same of a recording that grows, without those that the last rank came to before another moment.
    static List<Inferred> growingArrivals(Database database, long afterNanos, long untilNanos) {
        boolean any = database.query("SELECT count(*) AS n FROM events WHERE kind = 'nccl'").only().integer("n") > 0;
        return !any ? List.of() : arrivals(database.stream(ARRIVALS.formatted(GROWING_ARRIVALS), untilNanos, afterNanos));
    }

    private static List<Inferred> arrivals(Cursor rows) {
        List<Inferred> arrivals = new ArrayList<>();
        Map<String, String> functions = new HashMap<>();
        try (rows) {
            while (rows.next()) {
                String function = rows.text(3);
                arrivals.add(function == null
                        ? new Inferred.Late(rows.integer(0, 0), rows.integer(1, 0), rows.integer(2, 0))
                        : new Inferred.Skew(
                                functions.computeIfAbsent(function, name -> name), rows.integer(1, 0), rows.integer(2, 0)));
            }
        }
        return arrivals;
    }
}
