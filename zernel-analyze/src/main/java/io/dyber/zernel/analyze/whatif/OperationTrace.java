package io.dyber.zernel.analyze.whatif;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.whatif.PipelineSchedule.Group;
import io.dyber.zernel.analyze.whatif.TracedOperation.Slot;
import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/// A Parquet file with one row per operation that ranks of a pipelined training did on their GPUs: the format of
/// StragglerAnalysis, the artifact of arXiv:2505.05713; docs/what-if.md lists its columns.
final class OperationTrace {
    private static final List<String> COLUMNS = List.of(
            "dp_rank", "stage", "rank", "step", "optype", "start_ts", "duration", "seq_id", "mc", "gmc");

    private final Operations operations = new Operations();
    private final List<TracedOperation> traced = new ArrayList<>();
    private final Map<String, Integer> types = new HashMap<>();
    private final List<String> left = new ArrayList<>();

    private OperationTrace() {}

    /// Whether a file has the columns of one; no for what is not Parquet.
    static boolean isOne(DuckDb duckDb, String file) {
        try {
            return duckDb.query("SELECT name FROM parquet_schema(?)", file).texts("name").containsAll(COLUMNS);
        } catch (RecordingException _) {
            return false;
        }
    }

    /// Reads one.
    ///
    /// @throws RecordingException if there is no whole step in it
    static Job read(DuckDb duckDb, String file) {
        OperationTrace trace = new OperationTrace();
        return trace.job(file, trace.rows(duckDb, file));
    }

    private List<TracedOperation> rows(DuckDb duckDb, String file) {
        Table table = duckDb.query(
                """
                SELECT *, least(dp_rank, stage, rank, seq_id) >= 0 AND (step IS NOT NULL AND optype IS NOT NULL AND dp_rank IS NOT NULL AND stage IS NOT NULL AND rank IS NOT NULL
                        AND seq_id IS NOT NULL)
                    AND isfinite(begin) AND isfinite(took) AND took >= 0 AS usable, begin + took AS end
                FROM (
                    SELECT CAST(dp_rank AS INTEGER) AS dp_rank, CAST(stage AS INTEGER) AS stage, CAST(rank AS INTEGER) AS rank,
                        CAST(step AS BIGINT) AS step, CAST(optype AS VARCHAR) AS optype, CAST(seq_id AS INTEGER) AS seq_id,
                        coalesce(CAST(mc AS INTEGER), -1) AS mc, coalesce(CAST(gmc AS INTEGER), -1) AS gmc,
                        CAST(start_ts AS DOUBLE) AS begin, CAST(duration AS DOUBLE) AS took
                    FROM read_parquet(?)
                )
                ORDER BY step, dp_rank, stage, optype, seq_id
                """,
                file);
        List<TracedOperation> rows =
                table.rows().stream().filter(row -> row.flag("usable")).map(OperationTrace::row).toList();
        int unusable = table.rows().size() - rows.size();
        if (unusable > 0) {
            left.add(unusable + " of " + table.rows().size() + " rows lack a place, a begin or a duration, and are left out");
        }
        return rows;
    }

    private static TracedOperation row(Table.Row row) {
        return new TracedOperation(
                (int) row.integer("dp_rank"),
                (int) row.integer("stage"),
                (int) row.integer("rank"),
                row.integer("step"),
                row.requiredText("optype"),
                (int) row.integer("seq_id"),
                (int) row.integer("mc"),
                (int) row.integer("gmc"),
                number(row, "begin"),
                number(row, "end"));
    }

    private static double number(Table.Row row, String column) {
        Double number = row.real(column);
        return number == null ? 0 : number;
    }

    private Job job(String file, List<TracedOperation> rows) {
        if (rows.isEmpty()) {
            throw new RecordingException("reading '" + file + "': no operation has a begin and a duration", null);
        }
        TreeMap<Long, TreeMap<Integer, Map<Slot, TracedOperation>>> steps = new TreeMap<>();
        for (TracedOperation row : rows) {
            TracedOperation other = steps.computeIfAbsent(row.step(), _ -> new TreeMap<>())
                    .computeIfAbsent(row.replica(), _ -> new HashMap<>())
                    .put(row.slot(), row);
            if (other != null) {
                throw new RecordingException(
                        "reading '" + file + "': ranks " + other.rank() + " and " + row.rank() + " both have " + row.type() + " "
                                + row.number() + " of dp_rank " + row.replica() + ", stage " + row.stage() + ", step " + row.step(),
                        "keep one rank of each tensor-parallel group");
            }
        }
        int replicas = (int) rows.stream().mapToInt(TracedOperation::replica).distinct().count();
        Collection<Map<Slot, TracedOperation>> all = steps.values().stream().flatMap(step -> step.values().stream()).toList();
        Set<Slot> usual = mostFrequent(all);
        PipelineSchedule schedule = new PipelineSchedule(all.stream()
                .filter(one -> one.keySet().equals(usual))
                .findFirst()
                .map(one -> List.copyOf(one.values()))
                .orElseThrow());
        double seconds = 0;
        for (TreeMap<Integer, Map<Slot, TracedOperation>> step : steps.values()) {
            if (step.size() == replicas && step.values().stream().allMatch(one -> one.keySet().equals(usual))) {
                seconds += add(step, schedule);
            }
        }
        if (operations.stepCount() < steps.size()) {
            left.add(steps.size() - operations.stepCount() + " of " + steps.size()
                    + " steps have other operations than most, and are left out");
        }
        if (traced.isEmpty()) {
            throw new RecordingException(
                    "reading '" + file + "': no step has the same operations in all " + replicas + " replicas", "are ranks missing in it?");
        }
        int lastStage = traced.stream().mapToInt(TracedOperation::stage).max().orElse(0);
        return new Job(
                operations,
                seconds / operations.stepCount(),
                dimension("rank", TracedOperation::rank),
                List.of(dimension("dp_rank", TracedOperation::replica), dimension("stage", TracedOperation::stage)),
                dimension("operation", OperationTrace::named),
                lastStage == 0 ? null : i -> traced.get(i).stage() == lastStage,
                left);
    }

    /// The operations that most steps of replicas have.
    private static Set<Slot> mostFrequent(Collection<Map<Slot, TracedOperation>> all) {
        Map<Set<Slot>, Long> counts = all.stream().collect(Collectors.groupingBy(Map::keySet, Collectors.counting()));
        return Collections.max(counts.entrySet(), Map.Entry.comparingByValue()).getKey();
    }

    /// Both sides of sends in a direction are one.
    private static String named(TracedOperation row) {
        return row.pointToPoint() ? (row.forward() ? "forward-pp-comm" : "backward-pp-comm") : row.type();
    }

    private Dimension dimension(String name, Function<TracedOperation, ?> part) {
        return new Dimension(name, traced.stream().map(row -> String.valueOf(part.apply(row))).toList());
    }

    /// Adds a step, and returns how long it took.
    private double add(Map<Integer, Map<Slot, TracedOperation>> replicas, PipelineSchedule schedule) {
        int step = operations.addStep();
        Map<String, List<Integer>> groups = new HashMap<>();
        int from = operations.size();
        replicas.forEach((replica, rows) -> {
            int base = operations.size();
            for (Slot slot : schedule.slots()) {
                TracedOperation row = rows.get(slot);
                if (row == null) {
                    throw new IllegalStateException("no " + slot); // all steps that come here are whole
                }
                traced.add(row);
                int position = operations.size() - base;
                int[] waitsFor = Arrays.stream(schedule.waitsFor(position)).map(before -> base + before).toArray();
                int type = types.computeIfAbsent(row.type(), _ -> types.size());
                int added = operations.add(
                        step, type, TracedOperation.communicates(row.type()), row.end() - row.begin(), waitsFor);
                Group group = schedule.groups().get(position);
                if (group != null) {
                    groups.computeIfAbsent(group.name() + (group.ofAllReplicas() ? "" : " of " + replica), _ -> new ArrayList<>())
                            .add(added);
                }
            }
        });
        groups.values().forEach(this::join);
        List<TracedOperation> all = traced.subList(from, traced.size());
        return all.stream().mapToDouble(TracedOperation::end).max().orElse(0)
                - all.stream().mapToDouble(TracedOperation::begin).min().orElse(0);
    }

    /// Waiting for the others of a group is no part of what an operation takes.
    private void join(List<Integer> members) {
        int group = operations.addGroup();
        double begin = members.stream().mapToDouble(member -> traced.get(member).begin()).max().orElse(0);
        for (int member : members) {
            operations.join(member, group);
            operations.seconds(member, Math.max(0, traced.get(member).end() - begin));
        }
    }
}
