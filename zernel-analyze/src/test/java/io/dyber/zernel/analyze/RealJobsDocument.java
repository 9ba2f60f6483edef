package io.dyber.zernel.analyze;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;

/// The tables of real jobs in `docs/diagnosis.md`.
@NullMarked
final class RealJobsDocument {
    private RealJobsDocument() {}

    /// So many of so many must be right.
    record Bar(String what, long right, long of, double least) {
        boolean holds() {
            return right >= least * of;
        }

        @Override
        public String toString() {
            double share = of == 0 ? 0 : 100.0 * right / of;
            return String.format(Locale.ROOT, "%s: %d of %d, %.0f %% (at least %.0f %%)", what, right, of, share, 100 * least);
        }
    }

    static List<Bar> bars(List<RealRun> runs) {
        List<RealRun> planted = runs.stream().filter(run -> !run.job().healthy()).toList();
        List<RealRun> costly = planted.stream().filter(run -> run.gain().isPresent()).toList();
        List<RealRun> lined = planted.stream().filter(run -> !run.job().lines().isEmpty()).toList();
        List<RealRun> healthy = runs.stream().filter(run -> run.job().healthy()).toList();
        List<RealRun> advised = runs.stream().filter(run -> run.advised().isPresent()).toList();
        return List.of(
                new Bar("The cause is what the verdict names", planted.stream().filter(RealRun::causeIsFirst).count(), planted.size(), 0.9),
                new Bar(
                        "The gain is right within 20 %, or within what runs differ",
                        costly.stream().filter(RealRun::gainIsRight).count(),
                        costly.size(),
                        0.8),
                new Bar(
                        "The first line of the finding is one that holds the cause",
                        lined.stream().filter(RealRun::lineIsRight).count(),
                        lined.size(),
                        0.9),
                new Bar(
                        "Nothing is said of a healthy job",
                        healthy.stream().filter(run -> run.alarms().isEmpty()).count(),
                        healthy.size(),
                        1),
                new Bar(
                        "The advice, applied, gives two thirds of the gain it promises",
                        advised.stream().filter(RealRun::adviceIsKept).count(),
                        advised.size(),
                        1));
    }

    static String of(List<RealRun> runs) {
        return """
                %s

                | job | planted | step [ms] | without | true gain | first finding | said | its line | advice applied: gain | right |
                |---|---|---:|---:|---:|---|---:|---|---|---|
                %s

                | healthy job | what it is | step [ms] | what is said of it |
                |---|---|---:|---|
                %s
                """
                .formatted(
                        lines(bars(runs).stream().map(bar -> "- " + bar).toList()),
                        lines(runs.stream().filter(run -> !run.job().healthy()).map(RealJobsDocument::planted).toList()),
                        lines(runs.stream().filter(run -> run.job().healthy()).map(RealJobsDocument::healthy).toList()));
    }

    private static String lines(List<String> lines) {
        return String.join("\n", lines);
    }

    private static String planted(RealRun run) {
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |",
                run.job().name(),
                run.job().planted(),
                steps(run),
                run.times().without().stream().map(RealJobsDocument::millis).collect(Collectors.joining(" / ")),
                run.gain().map(RealJobsDocument::all).orElse("costs no time"),
                first(run),
                run.said().map(RealJobsDocument::range).orElse(""),
                line(run),
                run.advised().map(gain -> applied(run) + ": " + factor(gain)).orElse(""),
                judged(run));
    }

    private static String healthy(RealRun run) {
        String alarms = run.alarms().stream().collect(Collectors.joining(", "));
        return String.format(
                Locale.ROOT, "| %s | %s | %s | %s |", run.job().name(), run.job().planted(), steps(run), alarms);
    }

    /// That of the finding that names the cause; bold where it is another than the planted one.
    private static String line(RealRun run) {
        String line = run.line().orElse(run.job().lines().isEmpty() ? "" : "none");
        return run.job().lines().isEmpty() || run.lineIsRight() ? line : "**" + line + "**";
    }

    /// Of the recorded run, and of another one that was not recorded.
    private static String steps(RealRun run) {
        return millis(run.times().recorded()) + run.times().unrecorded().map(step -> " / " + millis(step)).orElse("");
    }

    /// Where the verdict names something else, also the place of the finding that names the cause.
    private static String first(RealRun run) {
        Optional<Finding> named = run.named();
        String later = run.causeIsFirst() || named.isEmpty()
                ? ""
                : "; " + named.get().name() + " is number " + (run.findings().indexOf(named.get()) + 1);
        return run.firstName() + later;
    }

    private static String applied(RealRun run) {
        OptionalInt workers = run.times().advised().orElseThrow().workers();
        return workers.isPresent() ? "num_workers=" + workers.getAsInt() : run.job().advice().orElseThrow().applied();
    }

    private static String judged(RealRun run) {
        if (!run.causeIsFirst()) {
            return "**cause**" + (run.gain().isPresent() && !run.gainIsRight() ? ", **gain**" : "");
        }
        if (run.gain().isPresent() && !run.gainIsRight()) {
            return "**gain**";
        }
        return run.advised().isPresent() && !run.adviceIsKept() ? "**advice**" : "yes";
    }

    private static String all(RealRun.Gain gain) {
        return factor(gain.recorded()) + " (" + factor(gain.least()) + " .. " + factor(gain.most()) + ")";
    }

    private static String range(RealRun.Said said) {
        return said.least() < said.most() ? factor(said.least()) + " .. " + factor(said.most()) : factor(said.most());
    }

    private static String factor(double gain) {
        return String.format(Locale.ROOT, "%.2fx", gain);
    }

    private static String millis(double millis) {
        return String.format(Locale.ROOT, "%.1f", millis);
    }
}
