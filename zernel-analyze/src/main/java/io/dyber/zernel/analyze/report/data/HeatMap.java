package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/// How late each rank comes, by machine and place on it: [Level] by [Level], in the order of the machines' ranks.
///
/// @param nodes machines; each has its ranks in the order of their places
public record HeatMap(List<Node> nodes) {
    /// How late a rank comes.
    public enum Level {
        /// By less than 2 % of a step.
        IN_TIME,
        /// By 2 % or more.
        LATE,
        /// By 10 % or more.
        VERY_LATE;

        private static final double LEAST_LATE = 0.02;
        private static final double LEAST_VERY_LATE = 0.1;

        /// By the share of a step by which it comes late.
        public static Level of(double share) {
            return share >= LEAST_VERY_LATE ? VERY_LATE : share >= LEAST_LATE ? LATE : IN_TIME;
        }
    }

    /// A machine.
    ///
    /// @param recording its digest
    /// @param host its name
    /// @param named whether a finding that costs time is about it
    public record Node(long recording, String host, boolean named, List<Cell> ranks) {}

    /// A rank.
    ///
    /// @param share by how much of a step it comes after the middle rank, in the median
    public record Cell(String label, double share) {
        public Level level() {
            return Level.of(share);
        }
    }

    /// Of the ranks of a fleet.
    public static HeatMap of(Fleet fleet) {
        Set<Long> named = new HashSet<>();
        for (Fleet.Count count : fleet.counts()) {
            // What nearly all machines have tells none from the others.
            if (count.finding().lostMillisPerStep() != null && 4 * count.recordings().size() <= fleet.report().section("recordings").rows().size()) {
                named.addAll(count.recordings());
            }
        }
        TreeMap<Long, Node> nodes = new TreeMap<>();
        for (Table.Row row : fleet.ranks().rows()) {
            long recording = row.integer("recording");
            String host = Objects.requireNonNullElse(row.text("host"), "recording " + recording);
            Node node = nodes.computeIfAbsent(recording, number -> new Node(number, host, named.contains(number), new ArrayList<>()));
            Double lag = row.real("lag_ns");
            Double step = row.real("step_ns");
            double share = lag == null || step == null ? 0 : lag / Math.max(1, step);
            node.ranks().add(new Cell(label(row), share));
        }
        return new HeatMap(List.copyOf(nodes.values()));
    }

    /// A rank, as `rank 17`, or its process where the rank is not known.
    public static String label(Table.Row rank) {
        return rank.isNull("rank") ? "pid " + rank.integer("pid") : "rank " + rank.integer("rank");
    }

    /// Most ranks of a machine.
    public int places() {
        return nodes.stream().mapToInt(node -> node.ranks().size()).max().orElse(0);
    }
}
