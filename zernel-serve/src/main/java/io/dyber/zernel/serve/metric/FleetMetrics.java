package io.dyber.zernel.serve.metric;

import static io.dyber.zernel.serve.metric.Metric.counter;
import static io.dyber.zernel.serve.metric.Metric.gauge;

import java.util.List;

/// The metrics of `zernel serve --fleet`, which has some of [Metrics] beside them. None has a series for each rank.
public final class FleetMetrics {
    public static final Metric MACHINES = gauge("zernel_fleet_machines",
            "Recorders whose digests are evaluated, and those that have stopped sending them.", "state");
    public static final Metric RANKS = gauge("zernel_fleet_ranks", "Ranks with training steps in the digests.");
    public static final Metric MISSING_RANKS = gauge("zernel_fleet_missing_ranks",
            "Ranks that jobs were started with and no digest has.");
    public static final Metric STEP = gauge("zernel_fleet_step_seconds",
            "Mean training step of all ranks, and that of the rank with the longest.", "rank_group");
    public static final Metric PHASE_RATIO = gauge("zernel_fleet_phase_ratio",
            "Share of each phase in the steps of all ranks.", "phase");
    public static final Metric LATE = gauge("zernel_fleet_late_seconds",
            "How much later than the middle rank one comes to collectives, in the median; of the ten latest.", "host", "rank");
    public static final Metric FINDINGS = gauge("zernel_fleet_findings",
            "How often each finding was made.", "finding", "severity");
    public static final Metric FINDING_ROUNDS = gauge("zernel_fleet_finding_rounds",
            "Rounds of digests, one after the other, that have a finding about a subject; of the worst 20.",
            "finding", "subject", "severity");
    public static final Metric DIGEST_AGE = gauge("zernel_fleet_digest_age_seconds",
            "Time since the newest digest came, and since that of the machine that sent least recently, of those evaluated.",
            "which");
    public static final Metric DIGESTS = counter("zernel_fleet_digests_total", "Digests that came, by what became of them.", "fate");
    public static final Metric EVALUATIONS = counter("zernel_fleet_evaluations_total",
            "How often the digests were evaluated, by how that went.", "outcome");
    public static final Metric EVALUATION = gauge("zernel_fleet_evaluation_seconds", "Time the last evaluation took.");
    public static final Metric EVALUATED = gauge("zernel_fleet_evaluated_time_seconds",
            "When the last evaluation began, since the epoch.");

    /// Their place in docs/metrics.md.
    public static final Metrics.Group GROUP = new Metrics.Group("A fleet (`zernel serve --fleet`)", List.of(
            MACHINES, RANKS, MISSING_RANKS, STEP, PHASE_RATIO, LATE, FINDINGS, FINDING_ROUNDS, DIGEST_AGE, DIGESTS,
            EVALUATIONS, EVALUATION, EVALUATED));

    /// All of them.
    public static final List<Metric> ALL = GROUP.metrics();

    private FleetMetrics() {}
}
