package io.dyber.zernel.serve;

import io.dyber.zernel.format.Version;
import io.dyber.zernel.serve.alert.Readings;
import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.fleet.FleetAnalysis;
import io.dyber.zernel.serve.fleet.FleetState;
import io.dyber.zernel.serve.live.Family;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.metric.FleetMetrics;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ObjDoubleConsumer;
import java.util.stream.Stream;

/// The series of a fleet at one moment: of worst ranks and findings only so many, whatever the number of ranks.
///
/// @param series all of them
record FleetSeries(SeriesTable series) implements Readings {
    private static final int LATEST = 10;
    private static final List<Metric> SHOWN = Stream.concat(
                    FleetMetrics.ALL.stream(),
                    Stream.of(Metrics.FINDING_INFO, Metrics.FINDING_LOST, Metrics.ALERTS, Metrics.ALERT_NOTIFICATIONS, Metrics.BUILD_INFO))
            .toList();

    /// @param refused pushes that were not taken
    static FleetSeries of(FleetState state, FleetAnalysis.Arrivals arrivals, long refused, long nowMs) {
        FleetSeries made = new FleetSeries(SeriesTable.of(SHOWN));
        made.arrivals(arrivals, refused, nowMs);
        if (state.evaluatedMs() > 0) {
            made.state(state);
        }
        made.set(Metrics.BUILD_INFO, 1, Version.current(), "");
        return made;
    }

    private void arrivals(FleetAnalysis.Arrivals arrivals, long refused, long nowMs) {
        set(FleetMetrics.MACHINES, (double) arrivals.count("sending"), "sending");
        set(FleetMetrics.MACHINES, (double) arrivals.count("silent"), "silent");
        if (arrivals.newestMs() > 0) {
            set(FleetMetrics.DIGEST_AGE, (nowMs - arrivals.newestMs()) / 1e3, "newest");
            set(FleetMetrics.DIGEST_AGE, (nowMs - arrivals.oldestMs()) / 1e3, "oldest");
        }
        arrivals.fates().forEach((fate, times) -> set(FleetMetrics.DIGESTS, (double) (times + (fate.equals("refused") ? refused : 0)), fate));
        set(FleetMetrics.EVALUATIONS, (double) arrivals.done(), "done");
        set(FleetMetrics.EVALUATIONS, (double) arrivals.failed(), "failed");
    }

    private void state(FleetState state) {
        set(FleetMetrics.RANKS, state.ranks().size());
        set(FleetMetrics.MISSING_RANKS, (double) state.missingRanks());
        if (!state.ranks().isEmpty()) {
            set(FleetMetrics.STEP, state.meanStepSeconds(), "all");
            set(FleetMetrics.STEP, state.longestStepSeconds(), "longest");
        }
        state.phases().forEach((phase, share) -> set(FleetMetrics.PHASE_RATIO, share, phase));
        for (FleetState.Rank rank : state.latest(LATEST)) {
            set(FleetMetrics.LATE, Objects.requireNonNullElse(rank.lateSeconds(), 0.0), rank.host(), rank.name().replaceFirst("^rank ", ""));
        }
        state.counts().forEach(count -> set(FleetMetrics.FINDINGS, (double) count.times(), count.finding(), count.severity()));
        for (int i = 0; i < state.rounds().size(); i++) {
            Findings.Found found = state.findings().findings().get(i);
            set(FleetMetrics.FINDING_ROUNDS, state.rounds().get(i), found.name(), found.subject(), found.severity());
        }
        set(FleetMetrics.EVALUATION, state.tookSeconds());
        set(FleetMetrics.EVALUATED, state.evaluatedMs() / 1e3);
        FindingSeries.export(series, state.findings());
    }

    private void set(Metric metric, double value, String... labels) {
        series.number(metric, List.of(labels)).value = value;
    }

    /// As they are shown, without those that have no series.
    Stream<Family> families() {
        return SHOWN.stream()
                .map(metric -> {
                    List<Family.Series> values = new ArrayList<>();
                    series.numbers(metric).forEach((labels, sum) -> values.add(new Family.Value(labels(metric, labels), sum.value())));
                    return new Family(metric, values);
                })
                .filter(family -> !family.series().isEmpty());
    }

    @Override
    public Map<String, String> labels(Metric metric, List<String> values) {
        Map<String, String> labels = metric.labelled(values);
        labels.values().removeIf(String::isEmpty);
        return labels;
    }

    @Override
    public void numbers(Metric metric, ObjDoubleConsumer<List<String>> to) {
        series.numbers(metric).forEach((labels, sum) -> to.accept(labels, sum.value()));
    }

    /// None of a fleet's metrics is a summary.
    @Override
    public void quantiles(Metric metric, double quantile, ObjDoubleConsumer<List<String>> to) {}
}
