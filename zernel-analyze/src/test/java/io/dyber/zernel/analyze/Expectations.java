package io.dyber.zernel.analyze;

import io.dyber.zernel.record.simulate.Scenario;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.NullMarked;

/// What the findings must say about a simulated job.
@NullMarked
final class Expectations {
    /// A cause that costs more must be the first finding.
    private static final double FIRST_FROM = 0.1;
    /// A finding without a cause must say less.
    private static final double HEALTHY_AT_MOST = 0.03;

    private static final double GAIN_WITHIN = 0.15;
    /// Rounding of `max_speedup`, and noise of the run without the cause.
    private static final double BOUND_TOLERANCE = 0.02;

    /// The finding that each cause must raise.
    private static final Map<String, String> FINDINGS = Map.ofEntries(
            Map.entry("data-bound-cpu", "data_bound"),
            Map.entry("data-bound-storage", "storage_bound"),
            Map.entry("too-few-workers", "too_few_workers"),
            Map.entry("worker-startup", "worker_startup"),
            Map.entry("launch-bound", "launch_bound"),
            Map.entry("sync-bound", "sync_bound"),
            Map.entry("pageable-copies", "pageable_copies"),
            Map.entry("straggler-rank", "nccl_straggler"),
            Map.entry("comm-bound", "exposed_communication"),
            Map.entry("comm-overlapped", "exposed_communication"),
            Map.entry("small-collectives", "small_collectives"),
            Map.entry("memory-leak", "memory_growth"),
            Map.entry("near-oom", "near_oom"),
            Map.entry("fragmentation", "fragmentation"),
            Map.entry("allocator-churn", "allocator_churn"),
            Map.entry("cpu-preempted", "cpu_preempted"),
            Map.entry("checkpoint-stall", "checkpoint_stall"),
            Map.entry("gc-stall", "gc_stall"),
            Map.entry("hang", "hang"),
            Map.entry("evaluation", "evaluation"),
            Map.entry("remote-data", "too_few_workers"),
            Map.entry("recompiles", "recompiles"),
            Map.entry("gil", "gil_contention"),
            Map.entry("lock", "blocked_on_thread"),
            Map.entry("sleep-each-step", "asleep"),
            Map.entry("log-fsync", "storage_writes"),
            Map.entry("work-between-calls", "cpu_between_calls"));

    /// What is in a job on purpose and not wrong: no finding may blame it.
    private static final Set<Scenario> FINE = Set.of(Scenario.HEALTHY, Scenario.CLOSURE);

    /// What any job has some of: a finding says so from more on, a quarter of the step or a fifth of all time.
    private static final Map<String, Double> FIRST_LATER = Map.of("work-between-calls", 0.27, "evaluation", 0.22);

    private static final double EVALUATION_WITHIN = 0.15;
    private static final double OPTIMIZER_AT_MOST = 0.3;

    private static final String UNSEEN =
            "DistributedDataParallel enqueues the all-reduce and goes on. Only the GPU waits for the network, and while it does,"
                    + " NCCL's kernel runs: calls on the CPU and the driver's utilization look as they do when the GPU computes"
                    + " for as long. No recording without records of GPU activity can tell the two apart, so no finding claims"
                    + " to. The report says that it cannot be known, with bounds that must hold the truth in each run;"
                    + " with a trace of PyTorch's profiler beside the recording, `exposed_communication` says what it costs"
                    + " ([gpu-traces.md](gpu-traces.md)).";

    /// What is known to be wrong with a scenario's findings, and why.
    ///
    /// @param rule what a violation begins with
    record Shortfall(String scenario, String rule, String reason) {}

    static final List<Shortfall> KNOWN = List.of(
            new Shortfall("comm-overlapped", "missed", UNSEEN));

    private Expectations() {}

    /// What is wrong with the findings of a run and not known, and what is known and not wrong any more.
    static List<String> surprises(DiagnosedRun run) {
        List<String> wrong = violations(run);
        List<Shortfall> known = KNOWN.stream()
                .filter(one -> one.scenario().equals(run.planted().scenario().label()))
                .toList();
        List<String> surprises = new ArrayList<>();
        wrong.stream()
                .filter(violation -> known.stream().noneMatch(one -> violation.startsWith(one.rule())))
                .forEach(surprises::add);
        known.stream()
                .filter(one -> wrong.stream().noneMatch(violation -> violation.startsWith(one.rule())))
                .forEach(one -> surprises.add("no shortfall any more: " + one));
        return surprises;
    }

    /// The findings that some cause must raise.
    static Collection<String> findings() {
        return FINDINGS.values();
    }

    /// The finding for a cause.
    static String finding(String cause) {
        return Optional.ofNullable(FINDINGS.get(cause))
                .orElseThrow(() -> new IllegalStateException("no finding is known for the cause '" + cause + "'"));
    }

    /// The causes of a run that a finding must name.
    static List<GroundTruth.Cause> toFind(DiagnosedRun run) {
        return isFine(run) ? List.of() : run.truth().causes();
    }

    private static boolean isFine(DiagnosedRun run) {
        return FINE.contains(run.planted().scenario());
    }

    /// What is wrong with the findings of a run, one line each.
    static List<String> violations(DiagnosedRun run) {
        List<String> wrong = new ArrayList<>();
        GroundTruth truth = run.truth();
        List<GroundTruth.Cause> toFind = toFind(run);
        List<String> expected = toFind.stream().map(cause -> finding(cause.label())).toList();
        int leading = 0;
        for (GroundTruth.Cause cause : toFind) {
            double from = FIRST_LATER.getOrDefault(cause.label(), FIRST_FROM);
            boolean leads = cause.lostNanos() == null || cause.share(truth) > from;
            if (leads) {
                leading++;
                checkFound(run, cause, wrong);
            }
        }
        List<String> firsts = run.findings().stream().limit(leading).map(Finding::name).toList();
        if (!expected.containsAll(firsts)) {
            wrong.add("first: " + firsts + ", not " + expected);
        }
        PossibleBounds.violations(run.findings()).forEach(one -> wrong.add("impossible: " + one));
        if (run.planted().scenario() == Scenario.COMM_OVERLAPPED) {
            checkUnknown(run, wrong);
        }
        if (run.planted().scenario() == Scenario.EVALUATION) {
            checkEvaluation(run, wrong);
        }
        if (run.planted().scenario() == Scenario.CLOSURE && run.optimizer() > OPTIMIZER_AT_MOST) {
            wrong.add(String.format(Locale.ROOT, "closure: %.0f %% of the time is the optimizer", 100 * run.optimizer()));
        }
        if (isFine(run)) {
            run.findings().stream()
                    .filter(finding -> run.share(finding) > HEALTHY_AT_MOST)
                    .forEach(finding -> wrong.add("healthy: " + describe(run, finding)));
        }
        return wrong;
    }

    private static void checkFound(DiagnosedRun run, GroundTruth.Cause cause, List<String> wrong) {
        Optional<Finding> found = run.finding(finding(cause.label()));
        if (found.isEmpty()) {
            wrong.add("missed: " + cause.label());
            return;
        }
        if (cause.lostNanos() == null) {
            return;
        }
        double gain = cause.gain(run.truth());
        if (!run.planted().nvml()) {
            checkRange(run, cause, found.get(), wrong);
        } else if (Math.abs(run.gain(found.get()) / gain - 1) > GAIN_WITHIN) {
            wrong.add(String.format(Locale.ROOT, "gain: %s, true %.2fx", describe(run, found.get()), gain));
        }
        if (boundIsBroken(found.get(), gain)) {
            wrong.add(String.format(Locale.ROOT, "bound: %s, true %.2fx", describe(run, found.get()), gain));
        }
    }

    /// Nobody knows how idle the GPU was, so the loss is a range, and must hold the truth.
    private static void checkRange(DiagnosedRun run, GroundTruth.Cause cause, Finding found, List<String> wrong) {
        double lost = run.truth().stepNanos() * cause.share(run.truth()) / 1e6;
        double least = found.leastLostMillisPerStep();
        if (least > lost * (1 + GAIN_WITHIN) || run.share(found) * run.truth().stepNanos() / 1e6 < lost * (1 - GAIN_WITHIN)) {
            wrong.add(String.format(Locale.ROOT, "range: %s, at least %.1f ms, true %.1f ms", describe(run, found), least, lost));
        }
    }

    private static void checkEvaluation(DiagnosedRun run, List<String> wrong) {
        double truth = run.truth().causes().getFirst().share(run.truth());
        if (Math.abs(run.evaluation() / truth - 1) > EVALUATION_WITHIN) {
            wrong.add(String.format(Locale.ROOT, "evaluation: %.3f of the time, true %.3f", run.evaluation(), truth));
        }
    }

    /// What no finding can say must be within what is said of it.
    private static void checkUnknown(DiagnosedRun run, List<String> wrong) {
        double truth = run.truth().causes().getFirst().share(run.truth());
        if (run.exposed().stream().noneMatch(bounds -> bounds.least() <= truth && truth <= bounds.most())) {
            wrong.add(String.format(Locale.ROOT, "unknown: %s, true %.2f", run.exposed(), truth));
        }
    }

    /// Whether the upper bound is below what removing the cause really gains.
    static boolean boundIsBroken(Finding finding, double gain) {
        Double bound = finding.maxSpeedup();
        return bound != null && bound < gain * (1 - BOUND_TOLERANCE);
    }

    private static String describe(DiagnosedRun run, Finding finding) {
        return String.format(
                Locale.ROOT,
                "%s loses %.0f %%, gains %.2fx, at most %.2fx",
                finding.name(),
                100 * run.share(finding),
                run.gain(finding),
                finding.maxSpeedup());
    }
}
