package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.report.Report;
import io.dyber.zernel.analyze.report.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.NullMarked;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A real job that was recorded: what the report says of it, and what its own clock says of it in each of its runs.
///
/// @param skipped findings that could not run
@NullMarked
record RealRun(RealJob job, Times times, Verdict verdict, List<Finding> findings, String skipped) {

    /// What a finding may lose in a healthy job, and what counts as right; shares.
    private static final double SILENT_AT_MOST = 0.05;

    private static final double GAIN_WITHIN = 0.2;
    private static final double ADVICE_KEEPS = 2.0 / 3;

    /// They are about the recording, not about the job.
    private static final Set<String> OF_THE_RECORDING = Set.of("lost_events", "unattached_probes");

    /// Mean steps by the job's own clock, in milliseconds.
    ///
    /// @param unrecorded of another run, without the recorder
    /// @param without of a run without the cause
    /// @param advised of a run with the advice applied
    record Times(double recorded, Optional<Double> unrecorded, Optional<Double> without, Optional<Double> advised) {}

    /// How much faster a job gets, by two pairs of runs.
    record Gain(double recorded, double unrecorded) {
        /// Within 20 % of the gain of the run that was recorded, or between those of two runs.
        boolean allows(double said) {
            return Math.abs(said / recorded - 1) <= GAIN_WITHIN
                    || (said >= Math.min(recorded, unrecorded) && said <= Math.max(recorded, unrecorded));
        }
    }

    /// Reads what `record.py` left in a folder.
    static RealRun of(RealJob job, Path folder) {
        Times times = new Times(
                mean(folder, job, "truth").orElseThrow(),
                mean(folder, job, "unrecorded"),
                mean(folder, job, "without"),
                mean(folder, job, "advice"));
        try (Database database = Recordings.open(folder.resolve(job.name() + ".parquet").toString())) {
            Report report = Report.of(database, Report.SECTIONS, (_, _) -> {});
            Diagnosis diagnosis = report.diagnosis();
            return new RealRun(job, times, report.verdict(), diagnosis.findings(), diagnosis.skippedText());
        }
    }

    private static Optional<Double> mean(Path folder, RealJob job, String run) {
        Path file = folder.resolve(job.name() + "." + run + ".json");
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            JsonNode truth = JsonMapper.shared().readTree(Files.readString(file));
            return Optional.of(truth.get("mean_ms").asDouble());
        } catch (IOException e) {
            throw new IllegalStateException("reading '" + file + "'", e);
        }
    }

    /// The finding that the verdict is made of.
    Optional<Finding> first() {
        return findings.stream()
                .filter(finding -> verdict.sentence().startsWith(finding.title().replaceFirst("\\.$", "")))
                .findFirst();
    }

    String firstName() {
        return first().map(Finding::name).orElse("none");
    }

    /// The finding that names the cause, wherever it comes.
    Optional<Finding> named() {
        return findings.stream().filter(finding -> job.findings().contains(finding.name())).findFirst();
    }

    /// Whether the verdict names the cause. What costs no time may be any finding, as long as the verdict claims no gain.
    boolean causeIsFirst() {
        if (first().isPresent() || job.costs()) {
            return job.findings().contains(firstName());
        }
        return verdict.kind() != Verdict.Kind.BOTTLENECK && named().isPresent();
    }

    /// How much faster the job gets, going by a finding.
    Optional<Double> said(Finding finding) {
        return Optional.ofNullable(finding.lostMillisPerStep())
                .map(lost -> lost < times.recorded() ? times.recorded() / (times.recorded() - lost) : Double.POSITIVE_INFINITY);
    }

    Optional<Double> said() {
        return named().flatMap(this::said);
    }

    /// How much faster it really gets without its cause.
    Optional<Gain> gain() {
        return times.without().filter(_ -> job.costs()).map(without -> new Gain(
                times.recorded() / without, times.unrecorded().orElse(times.recorded()) / without));
    }

    boolean gainIsRight() {
        return gain().isPresent() && said().filter(said -> gain().get().allows(said)).isPresent();
    }

    /// What the advice gained where it was applied; empty where the job was not told to do that.
    Optional<Double> advised() {
        boolean told = first().isPresent() && job.advice().isPresent() && causeIsFirst()
                && first().get().advice().contains(job.advice().get().says());
        return told ? times.advised().map(advised -> times.unrecorded().orElse(times.recorded()) / advised) : Optional.empty();
    }

    /// Whether the advice gained two thirds of what was promised.
    boolean adviceIsKept() {
        return advised().isPresent()
                && first().flatMap(this::said).filter(said -> advised().get() - 1 >= ADVICE_KEEPS * (said - 1)).isPresent();
    }

    /// What is said of a healthy job although it should not.
    List<String> alarms() {
        List<String> alarms = new ArrayList<>();
        for (Finding finding : findings) {
            Double lost = finding.lostMillisPerStep();
            double share = lost == null ? 0 : lost / times.recorded();
            if (!OF_THE_RECORDING.contains(finding.name())
                    && (!finding.severity().equals("low") || share > SILENT_AT_MOST)) {
                alarms.add(String.format(Locale.ROOT, "%s (%s, %.0f %%)", finding.name(), finding.severity(), 100 * share));
            }
        }
        return alarms;
    }
}
