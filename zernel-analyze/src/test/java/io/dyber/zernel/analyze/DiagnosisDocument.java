package io.dyber.zernel.analyze;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/// The part of `docs/diagnosis.md` about simulated jobs: what came out of all runs.
@NullMarked
final class DiagnosisDocument {
    private static final String NONE = "none";

    private DiagnosisDocument() {}

    static String of(List<DiagnosedRun> runs) {
        Map<String, List<DiagnosedRun>> byScenario = runs.stream()
                .collect(Collectors.groupingBy(
                        run -> run.planted().label(), TreeMap::new, Collectors.toList()));
        return """
                `zernel-record --simulate` models a training job (workers, prefetch queue, launches into a bounded GPU queue,
                syncs, collectives, allocator) and plants a cause in it. Seeds vary everything else. What the cause costs is
                not assumed, but simulated: the same job runs again with only this cause removed. The findings see the events
                of a recording and nothing of that. These are %s.

                Communication is planted in two ways. `comm-bound` reduces gradients after the backward pass and waits for
                that, as ZeRO 1 and 2 of DeepSpeed did with `overlap_comm`: the program sees it. `comm-overlapped` is
                DistributedDataParallel with a slow network: only the GPU waits, no finding can tell, and the report must
                say so with bounds that hold the truth. `gil`, `lock`, `sleep-each-step`, `log-fsync` and `work-between-calls`
                are jobs without a GPU; so are `evaluation`, and `closure`, in which nothing is wrong and nothing must be found.
                *Without NVML* nobody knows how idle the GPU was: the range that is said must hold the truth. `mixed` plants two causes that add up; it leaves out the start of
                workers, which costs more where the other cause keeps the program from being ahead of the GPU.

                ### Which cause was named

                Rows: what was planted. Columns: the finding that came first, in how many of the runs. `none`: no finding.

                %s
                ### What it costs

                *Gain* is how much faster the job gets without the cause, step time by step time without; the error is that of
                the estimate (`lost_ms_per_step`) against the simulated truth. *Lost* is the same in milliseconds of a step.
                *Bound* counts runs in which `max_speedup` was below the true gain by more than 2 %%: a bound must not be.
                Only causes that cost time are in here, where they were found; one that costs a tenth of the step or less
                need not be, which is why `mixed` lacks some.

                %s
                ### What falls short

                %s"""
                .formatted(setting(runs), matrix(byScenario), errors(byScenario), shortfalls(runs));
    }

    private static String setting(List<DiagnosedRun> runs) {
        long seeds = runs.stream().map(run -> run.planted().seed()).distinct().count();
        String strengths = runs.stream()
                .map(run -> run.planted().strength())
                .filter(strength -> strength > 0)
                .distinct()
                .sorted()
                .map(strength -> String.format(Locale.ROOT, "%.0f %%", 100 * strength))
                .collect(Collectors.joining(", "));
        return runs.size() + " runs, " + seeds + " seeds, strengths of " + strengths + " of the step";
    }

    private static String matrix(Map<String, List<DiagnosedRun>> byScenario) {
        TreeSet<String> columns = byScenario.values().stream()
                .flatMap(Collection::stream)
                .map(DiagnosisDocument::firstName)
                .collect(Collectors.toCollection(TreeSet::new));
        StringBuilder text = new StringBuilder("| planted |");
        columns.forEach(column -> text.append(' ').append(column).append(" |"));
        text.append("\n|---|").append("---:|".repeat(columns.size())).append('\n');
        byScenario.forEach((scenario, runs) -> {
            text.append("| ").append(scenario).append(" |");
            for (String column : columns) {
                long count = runs.stream().filter(run -> firstName(run).equals(column)).count();
                text.append(count == 0 ? " |" : " " + count + " |");
            }
            text.append('\n');
        });
        return text.toString();
    }

    private static String firstName(DiagnosedRun run) {
        return run.first().map(Finding::name).orElse(NONE);
    }

    /// One cause in one run that was found, with the truth about it.
    private record Estimate(DiagnosedRun run, GroundTruth.Cause cause, Finding finding) {
        double gainError() {
            return run.gain(finding) / cause.gain(run.truth()) - 1;
        }

        double lostErrorMillis() {
            return run.share(finding) * run.truth().stepNanos() / 1e6 - trueLost() / 1e6;
        }

        boolean boundIsBroken() {
            return Expectations.boundIsBroken(finding, cause.gain(run.truth()));
        }

        private double trueLost() {
            Double lost = cause.lostNanos();
            return lost == null ? 0 : lost;
        }
    }

    private static Stream<Estimate> estimates(DiagnosedRun run) {
        return Expectations.toFind(run).stream()
                .filter(cause -> cause.lostNanos() != null)
                .flatMap(cause -> run.finding(Expectations.finding(cause.label())).stream()
                        .map(finding -> new Estimate(run, cause, finding)));
    }

    private static String errors(Map<String, List<DiagnosedRun>> byScenario) {
        StringBuilder text = new StringBuilder(
                """
                | planted | found | true gain | gain error, median | worst | lost, median | worst | bound |
                |---|---:|---:|---:|---:|---:|---:|---:|
                """);
        byScenario.forEach((scenario, runs) -> {
            List<Estimate> all = runs.stream().flatMap(DiagnosisDocument::estimates).toList();
            if (!all.isEmpty()) {
                text.append(String.format(
                        Locale.ROOT,
                        "| %s | %d of %d | %.2f to %.2fx | %+.1f %% | %+.1f %% | %+.2f ms | %+.2f ms | %d |%n",
                        scenario,
                        all.size(),
                        runs.stream().mapToLong(DiagnosisDocument::costs).sum(),
                        all.stream().mapToDouble(one -> one.cause().gain(one.run().truth())).min().orElseThrow(),
                        all.stream().mapToDouble(one -> one.cause().gain(one.run().truth())).max().orElseThrow(),
                        100 * median(all, Estimate::gainError),
                        100 * worst(all, Estimate::gainError),
                        median(all, Estimate::lostErrorMillis),
                        worst(all, Estimate::lostErrorMillis),
                        all.stream().filter(Estimate::boundIsBroken).count()));
            }
        });
        return text.toString();
    }

    private static long costs(DiagnosedRun run) {
        return Expectations.toFind(run).stream().filter(cause -> cause.lostNanos() != null).count();
    }

    private static double median(List<Estimate> all, ToDoubleFunction<Estimate> error) {
        double[] sorted = all.stream().mapToDouble(error).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private static double worst(List<Estimate> all, ToDoubleFunction<Estimate> error) {
        return all.stream().mapToDouble(error).boxed().max(Comparator.comparingDouble(Math::abs)).orElseThrow();
    }

    private static String shortfalls(List<DiagnosedRun> runs) {
        List<String> lines = new ArrayList<>();
        for (Expectations.Shortfall known : Expectations.KNOWN) {
            List<DiagnosedRun> planted = runs.stream()
                    .filter(run -> run.planted().scenario().label().equals(known.scenario()))
                    .toList();
            long wrong = planted.stream()
                    .filter(run -> Expectations.violations(run).stream().anyMatch(one -> one.startsWith(known.rule())))
                    .count();
            lines.add("- " + known.scenario() + ", " + known.rule() + " in " + wrong + " of " + planted.size() + " runs: "
                    + known.reason());
        }
        for (DiagnosedRun run : runs) {
            Expectations.surprises(run).forEach(wrong -> lines.add("- " + run.planted() + ": " + wrong));
        }
        return lines.isEmpty() ? "Nothing: all rules of `DiagnosisTest` hold in all runs.\n" : String.join("\n", lines) + "\n";
    }
}
