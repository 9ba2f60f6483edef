package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
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

    private static final Pattern WORKERS = Pattern.compile("DataLoader\\(num_workers=(\\d+)");

    /// What these say is lost is what their advice brings, not all that the cause costs.
    private static final Set<String> OF_THE_ADVICE = Set.of("too_few_workers");

    /// They are about the recording, not about the job.
    private static final Set<String> OF_THE_RECORDING = Set.of("lost_events", "unattached_probes");

    /// Mean steps by the job's own clock, in milliseconds.
    ///
    /// @param unrecorded of another run, without the recorder
    /// @param without of runs without the cause, or with what the finding promises to bring
    /// @param advised of a run with the advice applied
    record Times(double recorded, Optional<Double> unrecorded, List<Double> without, Optional<Advised> advised) {
        private Gain gain() {
            DoubleSummaryStatistics slow = DoubleStream.concat(
                            DoubleStream.of(recorded), unrecorded.stream().mapToDouble(Double::doubleValue))
                    .summaryStatistics();
            DoubleSummaryStatistics fast = without.stream().mapToDouble(Double::doubleValue).summaryStatistics();
            return new Gain(recorded / fast.getAverage(), slow.getMin() / fast.getMax(), slow.getMax() / fast.getMin());
        }
    }

    /// A run with the advice applied.
    ///
    /// @param mean step, in milliseconds
    /// @param workers how many it had, where the advice names so many
    record Advised(double mean, OptionalInt workers) {}

    /// What a finding says that a job gets faster, at least and as its estimate.
    record Said(double least, double most) {}

    /// How much faster a job gets: the run that was recorded by the mean of those without the cause, and the least and the most by
    /// any two runs.
    record Gain(double recorded, double least, double most) {
        /// Within 20 % of the gain of the run that was recorded, or within what runs differ.
        boolean allows(Said said) {
            return said.most() >= Math.min(least, recorded * (1 - GAIN_WITHIN))
                    && said.least() <= Math.max(most, recorded * (1 + GAIN_WITHIN));
        }
    }

    /// Reads what `record.py` left in a folder.
    static RealRun of(RealJob job, Path folder) {
        Times times = new Times(
                truth(folder, job, "truth").map(RealRun::mean).orElseThrow(),
                truth(folder, job, "unrecorded").map(RealRun::mean),
                Stream.of("without", "without-again")
                        .flatMap(run -> truth(folder, job, run).stream())
                        .map(RealRun::mean)
                        .toList(),
                truth(folder, job, "advice").map(RealRun::advised));
        try (Database database = Recordings.open(folder.resolve(job.name() + ".parquet").toString())) {
            Report report = Report.of(database, Report.SECTIONS, (_, _) -> {});
            Diagnosis diagnosis = report.diagnosis();
            return new RealRun(job, times, report.verdict(), diagnosis.findings(), diagnosis.skippedText());
        }
    }

    private static double mean(JsonNode truth) {
        return truth.get("mean_ms").asDouble();
    }

    private static Advised advised(JsonNode truth) {
        JsonNode workers = truth.path("num_workers");
        return new Advised(mean(truth), workers.isInt() ? OptionalInt.of(workers.asInt()) : OptionalInt.empty());
    }

    private static Optional<JsonNode> truth(Path folder, RealJob job, String run) {
        Path file = folder.resolve(job.name() + "." + run + ".json");
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(JsonMapper.shared().readTree(Files.readString(file)));
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

    /// The line that the finding of the cause names first; empty where it names none.
    Optional<String> line() {
        return named().flatMap(finding -> finding.lines().stream().findFirst()).map(FindingLine::place);
    }

    /// Whether that is a line that holds the cause.
    boolean lineIsRight() {
        return line().filter(line -> job.lines().stream().anyMatch(planted -> line.startsWith(planted + " "))).isPresent();
    }

    /// How much faster the job gets, going by a finding.
    Optional<Said> said(Finding finding) {
        return Optional.ofNullable(finding.lostMillisPerStep())
                .map(lost -> new Said(faster(finding.leastLostMillisPerStep()), faster(lost)));
    }

    private double faster(double lost) {
        return lost < times.recorded() ? times.recorded() / (times.recorded() - lost) : Double.POSITIVE_INFINITY;
    }

    Optional<Said> said() {
        return named().flatMap(this::said);
    }

    /// How much faster it really gets: without its cause; or with its advice, where that is what the finding speaks of.
    Optional<Gain> gain() {
        boolean byAdvice = named().filter(finding -> OF_THE_ADVICE.contains(finding.name())).isPresent();
        if (byAdvice && applied().isPresent()) {
            List<Double> with = List.of(applied().get().mean());
            return Optional.of(new Times(times.recorded(), times.unrecorded(), with, times.advised()).gain());
        }
        return job.costs() && !times.without().isEmpty() ? Optional.of(times.gain()) : Optional.empty();
    }

    boolean gainIsRight() {
        return gain().isPresent() && said().filter(said -> gain().get().allows(said)).isPresent();
    }

    /// How many workers the first finding advises; empty where it advises something else.
    OptionalInt namedWorkers() {
        return first().map(finding -> WORKERS.matcher(finding.advice()))
                .filter(Matcher::find)
                .map(found -> OptionalInt.of(Integer.parseInt(found.group(1))))
                .orElse(OptionalInt.empty());
    }

    /// What the advice gained where it was applied; empty where the job was not told to do that, or with so many workers.
    Optional<Double> advised() {
        boolean told = first().isPresent() && job.advice().isPresent() && causeIsFirst()
                && first().get().advice().contains(job.advice().get().says());
        return applied().filter(_ -> told).map(applied -> times.unrecorded().orElse(times.recorded()) / applied.mean());
    }

    /// The run with the advice, unless it had other workers than are advised.
    private Optional<Advised> applied() {
        return times.advised().filter(advised -> advised.workers().isEmpty() || advised.workers().equals(namedWorkers()));
    }

    /// Whether the advice gained two thirds of what was promised at least.
    boolean adviceIsKept() {
        return advised().isPresent()
                && first().filter(finding -> finding.lostMillisPerStep() != null)
                        .map(finding -> faster(finding.savedByAdviceMillisPerStep()))
                        .filter(promised -> advised().get() - 1 >= ADVICE_KEEPS * (promised - 1))
                        .isPresent();
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
