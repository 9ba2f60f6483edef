package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What to fix first, in one sentence, and what that rests on.
///
/// @param kind what sort of answer it is
/// @param sentence the answer
/// @param reason what it rests on or what is missing for a better one; empty where the findings say it
public record Verdict(Kind kind, String sentence, String reason) {
    /// A gain that is not above this is within what steps vary anyway.
    private static final double NO_SPEEDUP = 1.03;

    /// So much of a step may be communication without a word about it.
    private static final double NO_COMMUNICATION = 0.1;

    /// Of the time of a trace, in copies alone.
    private static final double MUCH_COPYING = 0.2;

    /// With fewer steps of training hardly anything is looked for.
    private static final int FEW_STEPS = 5;

    private static final int MOST_REASONS = 3;
    private static final int MOST_PROGRAM = 60;
    private static final String NO_STEPS = "No training steps were seen, so it cannot be said what limits the job.";
    private static final String INCOMPLETE = "The recording is incomplete, which may be why: record again, or record the job while it "
            + "runs (zernel-record --pid PID).";
    private static final String INCOMPLETE_TRACE = "The trace is incomplete, which may be why.";
    private static final String MARK_STEPS = "Call the profiler's step() after each step, or mark each with "
            + "torch.profiler.record_function(f\"step {n}\").";
    private static final String NAME_PARTS = "For steps and phases, name its parts: record with "
            + "--probe 'LIBRARY:FUNCTION(role=step)', role=data_wait, ..., or mark regions in Python with --probe py_region.";

    /// Findings about the recording and not about the job.
    private static final Set<String> LIMITS = Set.of("lost_events", "unattached_probes");

    /// Sorts of answers.
    public enum Kind {
        /// Time can be gained.
        BOTTLENECK,
        /// Something will go wrong or went wrong: no time can be gained, or the job is killed before that helps.
        RISK,
        /// Nothing is wrong.
        HEALTHY,
        /// There is too little to judge by.
        UNKNOWN
    }

    static Verdict of(Report report) {
        List<Finding> findings = report.diagnosis().findings().stream()
                .filter(finding -> !LIMITS.contains(finding.name()))
                .toList();
        Optional<Finding> slow = findings.stream().filter(Verdict::isWorthIt).findFirst();
        Optional<Finding> risk = findings.stream()
                .filter(finding -> finding.lostMillisPerStep() == null && !finding.severity().equals("low"))
                .findFirst();
        if (slow.isPresent() && risk.filter(one -> findings.indexOf(one) < findings.indexOf(slow.get())).isEmpty()) {
            String severity = slow.get().severity();
            boolean judged = !severity.equals("high") && PhaseWords.of(report).onCpuOnly();
            String lines = judged ? " " + CpuWork.known(report) + LongestLines.ofSteps(report) : "";
            return new Verdict(
                    Kind.BOTTLENECK, headline(slow.get()), (risk.map(Verdict::also).orElse("") + lines).strip());
        }
        if (risk.isPresent()) {
            String sentence = title(risk.get()) + ": " + risk.get().subject() + ", " + FindingWords.amount(risk.get())
                    + FindingWords.gain(risk.get());
            boolean stands = risk.get().name().equals("hang");
            boolean steps = !report.section("step_mean").rows().isEmpty();
            String more = slow.map(Verdict::also)
                    .or(() -> steps || stands ? Optional.empty() : whereItWorks(report))
                    .orElse(stands || !steps ? "" : "No finding says that time can be gained.");
            return new Verdict(Kind.RISK, sentence, more);
        }
        if (report.section("step_mean").rows().isEmpty()) {
            return withoutSteps(report);
        }
        return healthy(report, findings);
    }

    /// Says in which line most of the time goes by, where stacks tell that, and why there are no steps.
    private static Verdict withoutSteps(Report report) {
        Verdict unknown = whyNoSteps(report).onGroundOf(report);
        return LongestLines.withoutSteps(report)
                .map(lines -> new Verdict(
                        Kind.UNKNOWN,
                        lines.sentence(),
                        lines.others() + (unknown.sentence().equals(NO_STEPS) ? "" : unknown.sentence() + " ") + unknown.reason()))
                .orElse(unknown);
    }

    /// Where a process without steps spends most time, unless it may be idle there: then what was found says more.
    private static Optional<String> whereItWorks(Report report) {
        return LongestLines.withoutSteps(report).filter(lines -> !lines.mayBeIdle()).map(LongestLines::text);
    }

    /// Says that what is missing in a recording may be the steps.
    private Verdict onGroundOf(Report report) {
        Table recordings = report.sections().get("recordings");
        boolean whole = recordings == null || recordings.rows().stream().allMatch(row -> row.flag("complete"));
        String incomplete = isTrace(report) ? INCOMPLETE_TRACE : INCOMPLETE;
        return whole ? this : new Verdict(kind, sentence, incomplete + " " + reason);
    }

    /// Says what was seen of processes that use the GPU.
    private static Verdict whyNoSteps(Report report) {
        Table seen = report.sections().get("processes_without_steps");
        if (seen == null || seen.rows().isEmpty()) {
            Table programs = report.sections().get("programs_without_steps");
            if (programs != null && !programs.rows().isEmpty()) {
                return withoutFramework(programs);
            }
            return new Verdict(
                    Kind.UNKNOWN,
                    NO_STEPS,
                    isTrace(report)
                            ? MARK_STEPS
                            : "`zernel-analyze stacks FILE` shows the lines in which it spends its time, where stacks were recorded. "
                                    + NAME_PARTS);
        }
        String reasons = seen.rows().stream()
                .limit(MOST_REASONS)
                .map(row -> "pid " + row.text("pid") + ": " + row.text("why"))
                .collect(Collectors.joining("; "));
        int more = seen.rows().size() - MOST_REASONS;
        return new Verdict(
                Kind.UNKNOWN,
                "The GPU is used, but no steps were found, so it cannot be said what limits the job.",
                reasons + (more > 0 ? "; and " + more + " more processes." : ".") + (isTrace(report) ? " " + MARK_STEPS : ""));
    }

    /// Says what was seen of programs of which nothing tells what a step is.
    private static Verdict withoutFramework(Table programs) {
        Table.Row first = programs.rows().getFirst();
        String program = shortened(first.requiredText("program"));
        int more = programs.rows().size() - 1;
        return new Verdict(
                Kind.UNKNOWN,
                "Neither PyTorch nor CUDA was loaded by pid " + first.integer("pid") + " (" + program + ")"
                        + (more > 0 ? " and " + more + " more" : "")
                        + ", so nothing says what its steps are.",
                "Seen: " + first.requiredText("seen") + ". " + NAME_PARTS);
    }

    private static String shortened(String program) {
        return program.length() <= MOST_PROGRAM ? program : program.substring(0, MOST_PROGRAM) + "...";
    }

    private static boolean isWorthIt(Finding finding) {
        return finding.lostMillisPerStep() != null
                && (finding.maxSpeedup() == null || finding.maxSpeedup() > NO_SPEEDUP);
    }

    private static String headline(Finding finding) {
        return title(finding) + ": " + finding.subject() + FindingWords.gain(finding).replaceFirst("^;", "");
    }

    private static String also(Finding finding) {
        return "Also: " + title(finding) + " (" + finding.subject() + ").";
    }

    private static String title(Finding finding) {
        return finding.title().replaceFirst("\\.$", "");
    }

    private static Verdict healthy(Report report, List<Finding> findings) {
        String small = findings.stream()
                .filter(finding -> finding.maxSpeedup() != null)
                .findFirst()
                .map(finding -> String.format(
                        Locale.ROOT, " The largest gain that was found is %.2fx at most.", finding.maxSpeedup()))
                .orElse("");
        int skipped = report.diagnosis().skipped().size();
        if (skipped > 0) {
            return new Verdict(
                    Kind.UNKNOWN,
                    "No bottleneck found, but " + Quantity.counted(skipped, "finding") + " could not be looked for.",
                    "Why not is said below the findings." + small);
        }
        long steps = report.section("step_mean").rows().getFirst().integer("steps");
        if (steps < FEW_STEPS && !isTrace(report)) {
            return new Verdict(
                    Kind.UNKNOWN,
                    "Too few steps to judge: %d of training.".formatted(steps),
                    "Most findings need 5 or 10 at least: record for longer." + small + LongestLines.ofSteps(report));
        }
        Optional<Table.Row> busiest = busiest(report.section("gpu_limit"));
        String evidence = busiest.map(row -> sentence(row.requiredText("evidence"))).orElse("");
        return switch (busiest.map(row -> row.requiredText("limits")).orElse("unknown")) {
            case "gpu" -> new Verdict(
                    Kind.HEALTHY,
                    "No bottleneck found; the GPU is the limit.",
                    evidence + communication(report) + small);
            case "close" -> new Verdict(
                    Kind.HEALTHY,
                    "No bottleneck found; the CPU and the GPU are close.",
                    evidence + " Which of them is ahead needs more samples: record 30 s of steps or longer." + small);
            case "cpu" -> new Verdict(
                    Kind.UNKNOWN,
                    "No bottleneck found, but the GPU is not always busy.",
                    evidence + copies(report).orElse(" No finding says why not more.") + small + LongestLines.ofSteps(report));
            default -> new Verdict(
                    Kind.UNKNOWN,
                    computesOnCpus(report) && !CpuWork.known(report).isEmpty()
                            ? "No bottleneck found, but CPUs are idle."
                            : "No bottleneck found.",
                    unknown(report, busiest) + small + LongestLines.ofSteps(report));
        };
    }

    private static String unknown(Report report, Optional<Table.Row> busiest) {
        PhaseWords words = PhaseWords.of(report);
        boolean trace = isTrace(report);
        if (computesOnCpus(report)) {
            return (trace
                            ? "The trace has nothing that ran on a GPU: the job computes on CPUs, or its GPUs were not profiled."
                            : "Nothing was launched on a GPU: the job runs on CPUs only.")
                    + " " + CpuWork.sentences(report, trace);
        }
        String why = busiest.map(row -> row.requiredText("evidence")).orElse("no GPU was sampled");
        if (trace) {
            why = gpuTimes(report).anyMatch(words::areOf)
                    ? "the GPU's activity in the trace spans less than half of the time of the steps"
                    : "the trace has no GPU activity of the process with steps";
        }
        return "Whether the CPU or a GPU limits the job cannot be known from here: " + why + ".";
    }

    private static boolean computesOnCpus(Report report) {
        return PhaseWords.of(report).onCpuOnly() && !ranOnGpu(report);
    }

    /// Whether anything did, be it of a process without steps.
    private static boolean ranOnGpu(Report report) {
        return gpuTimes(report).findAny().isPresent();
    }

    private static Stream<Table.Row> gpuTimes(Report report) {
        Table times = report.sections().get("gpu_time");
        return times == null ? Stream.empty() : times.rows().stream();
    }

    private static boolean isTrace(Report report) {
        Table recordings = report.sections().get("recordings");
        return recordings != null
                && !recordings.rows().isEmpty()
                && recordings.rows().stream().allMatch(row -> "trace".equals(row.text("state")));
    }

    /// The process whose GPU was busiest: ranks wait for the slowest one.
    private static Optional<Table.Row> busiest(Table limits) {
        return limits.rows().stream()
                .max(Comparator.comparingInt((Table.Row row) -> row.requiredText("limits").equals("gpu") ? 1 : 0)
                        .thenComparingDouble(row -> row.isNull("busy") ? -1 : Double.parseDouble(row.requiredText("busy"))));
    }

    private static String sentence(String evidence) {
        return evidence.isEmpty() ? "" : Character.toUpperCase(evidence.charAt(0)) + evidence.substring(1) + ".";
    }

    /// A GPU that only copies runs no kernels, and is not idle.
    private static Optional<String> copies(Report report) {
        return gpuTimes(report)
                .map(row -> (double) row.integer("exposed_copy_ns") / Math.max(1, row.integer("profiled_ns")))
                .max(Double::compare)
                .filter(most -> most >= MUCH_COPYING)
                .map(most -> " Copies ran " + Quantity.percent(most) + " of the time without a kernel meanwhile: "
                        + "move data once, or ahead of its use (non_blocking=True).");
    }

    /// A GPU that waits for the network in a collective is as busy as one that computes.
    private static String communication(Report report) {
        return report.section("unknowns").rows().stream()
                .filter(row -> "how much communication overlaps with compute".equals(row.text("question")))
                .filter(row -> !row.isNull("upper_share"))
                .map(row -> Double.parseDouble(row.requiredText("upper_share")))
                .max(Double::compare)
                .filter(most -> most >= NO_COMMUNICATION)
                .map(most -> " Collectives count as kernels: up to " + Quantity.percent(most)
                        + " of a step may be waiting for them, which only a profiler's trace can tell.")
                .orElse("");
    }
}
