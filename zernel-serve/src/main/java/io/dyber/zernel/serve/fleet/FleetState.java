package io.dyber.zernel.serve.fleet;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Fleet;
import io.dyber.zernel.analyze.report.data.HeatMap;
import io.dyber.zernel.analyze.report.data.Verdict;
import io.dyber.zernel.serve.analysis.Findings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What the newest digests of all machines say together: the same as `zernel-analyze report` of them.
///
/// @param evaluatedMs when they were looked at, since the epoch; 0 before the first time
/// @param tookSeconds how long that took
/// @param trouble why there is nothing newer; empty where all is well
/// @param verdict what to fix first
/// @param findings the worst
/// @param rounds rounds of digests, one after the other, that have the finding of [#findings] at the same place
/// @param counts of each finding how often it was made
/// @param ranks all
/// @param missingRanks that jobs were started with and no digest has
public record FleetState(
        long evaluatedMs,
        double tookSeconds,
        String trouble,
        Words verdict,
        Findings findings,
        List<Integer> rounds,
        List<Count> counts,
        List<Rank> ranks,
        long missingRanks) {
    /// Before the first evaluation.
    static final FleetState NONE = new FleetState(
            0, 0, "no digest has come yet", new Words("unknown", "No digest has come yet.", ""), Findings.NONE, List.of(), List.of(),
            List.of(), 0);

    private static final List<String> PHASES =
            List.of("data_loading", "gpu_compute", "nccl_collective", "optimizer_step", "unknown");

    /// A verdict.
    ///
    /// @param kind bottleneck, risk, healthy or unknown
    public record Words(String kind, String sentence, String reason) {}

    /// How often a finding was made.
    ///
    /// @param machines in how many digests
    public record Count(String finding, String title, String severity, long times, long machines) {}

    /// A rank.
    ///
    /// @param name `rank 17`, or its process where the rank is not known
    /// @param place on its machine, from 0
    /// @param lateSeconds after the middle rank at collectives, in the median; null where that is not known
    /// @param level in_time, late from 2 % of a step, very_late from 10 %
    /// @param named whether one of the worst findings is about it
    /// @param cause what it spent more time on when it was late, where that is known
    public record Rank(
            String host,
            String name,
            long place,
            long steps,
            double stepSeconds,
            @Nullable Double lateSeconds,
            String level,
            boolean named,
            @Nullable String cause,
            Map<String, Double> phases) {}

    /// @param findings the worst of it
    static FleetState of(Fleet fleet, Findings findings, List<Integer> rounds, double tookSeconds) {
        Verdict said = fleet.verdict();
        return new FleetState(
                findings.asOfMs(),
                tookSeconds,
                "",
                new Words(said.kind().name().toLowerCase(Locale.ROOT), said.sentence(), said.reason()),
                findings,
                rounds,
                fleet.counts().stream().map(FleetState::count).toList(),
                ranks(fleet.ranks(), findings),
                fleet.missing().rows().stream().mapToLong(row -> row.integer("last_rank") - row.integer("first_rank") + 1).sum());
    }

    /// The same, and why there is nothing newer.
    FleetState butNot(String why) {
        return new FleetState(evaluatedMs, tookSeconds, why, verdict, findings, rounds, counts, ranks, missingRanks);
    }

    private static Count count(Fleet.Count count) {
        return new Count(
                count.finding().name(), count.finding().title(), count.finding().severity(), count.times(), count.recordings().size());
    }

    private static List<Rank> ranks(Table table, Findings findings) {
        List<Rank> ranks = new ArrayList<>();
        for (Table.Row row : table.rows()) {
            String host = Objects.requireNonNullElse(row.text("host"), "recording " + row.integer("recording"));
            Double step = row.real("step_ns");
            Double lag = row.real("lag_ns");
            double stepNanos = step == null ? 0 : step;
            String level = HeatMap.Level.of(lag == null ? 0 : lag / Math.max(1, stepNanos)).name().toLowerCase(Locale.ROOT);
            String process = host + " pid " + row.integer("pid");
            boolean named = findings.findings().stream().anyMatch(found -> (found.subject() + ",").contains(process + ","));
            ranks.add(new Rank(
                    host, HeatMap.label(row), row.integer("local_rank"), row.integer("steps"), stepNanos / 1e9,
                    lag == null ? null : lag / 1e9, level, named, row.text("cause"), phases(row, stepNanos)));
        }
        return List.copyOf(ranks);
    }

    private static Map<String, Double> phases(Table.Row row, double stepNanos) {
        Map<String, Double> phases = new LinkedHashMap<>();
        for (String phase : PHASES) {
            Double nanos = row.real(phase + "_ns");
            phases.put(phase, nanos == null ? 0 : nanos / Math.max(1, stepNanos));
        }
        return phases;
    }

    /// Mean step of all ranks, in seconds; 0 without ranks.
    public double meanStepSeconds() {
        return ranks.stream().mapToDouble(Rank::stepSeconds).average().orElse(0);
    }

    /// The longest mean step of a rank, in seconds; 0 without ranks.
    public double longestStepSeconds() {
        return ranks.stream().mapToDouble(Rank::stepSeconds).max().orElse(0);
    }

    /// Share of each phase in the steps of all ranks.
    public Map<String, Double> phases() {
        Map<String, Double> phases = new LinkedHashMap<>();
        double all = ranks.stream().mapToDouble(Rank::stepSeconds).sum();
        for (String phase : ranks.isEmpty() ? List.<String>of() : PHASES) {
            phases.put(phase, ranks.stream()
                            .mapToDouble(rank -> rank.stepSeconds() * rank.phases().getOrDefault(phase, 0.0))
                            .sum()
                    / Math.max(1e-9, all));
        }
        return phases;
    }

    /// The ranks that come latest to collectives, of those of which that is known.
    public List<Rank> latest(int most) {
        return ranks.stream()
                .filter(rank -> rank.lateSeconds() != null)
                .sorted(Comparator.comparingDouble((Rank rank) -> Objects.requireNonNullElse(rank.lateSeconds(), 0.0)).reversed())
                .limit(most)
                .toList();
    }
}
