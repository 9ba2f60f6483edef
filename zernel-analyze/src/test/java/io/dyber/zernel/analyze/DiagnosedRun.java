package io.dyber.zernel.analyze;

import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.record.simulate.Scenario;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.NullMarked;

/// One simulated job, what was planted in it, and what the findings say.
///
/// @param exposed what the report says cannot be known, with its bounds: communication that computation does not hide
/// @param evaluation share of the time of all steps that evaluating takes: of steps that do, what is beyond a usual one
/// @param optimizer share of the time of steps of kind train that is the optimizer's
@NullMarked
record DiagnosedRun(
        Case planted,
        GroundTruth truth,
        List<Finding> findings,
        Optional<Bounds> exposed,
        double evaluation,
        double optimizer) {

    private static final String EVALUATING = """
            SELECT coalesce(sum(dur_ns - usual_ns) FILTER (step_kind = 'evaluation'), 0)
                / sum(dur_ns) FILTER (step_kind <> 'warmup') AS share
            FROM (SELECT *, median(dur_ns) FILTER (step_kind = 'train') OVER () AS usual_ns FROM steps)
            """;

    private static final String OPTIMIZING = """
            SELECT coalesce(sum(optimizer_step_ns), 0) / greatest(sum(dur_ns), 1) AS share FROM steps WHERE step_kind = 'train'
            """;

    /// Shares of the step.
    record Bounds(double least, double most) {}

    /// A job to simulate; `strength` is the share of step time that the cause is meant to cost.
    ///
    /// @param nvml whether the driver was asked how busy the GPUs are
    record Case(Scenario scenario, long seed, double strength, boolean nvml) {
        String label() {
            return scenario.label() + (nvml ? "" : ", without NVML");
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%s seed %d strength %.2f", label(), seed, strength);
        }
    }

    static DiagnosedRun of(Case planted, Path folder) {
        Path file = folder.resolve("run.parquet");
        List<String> options = new ArrayList<>(List.of(
                "--simulate=" + planted.scenario().label(),
                "--seed=" + planted.seed(),
                "--strength=" + Math.round(100 * planted.strength()) + "%",
                "--quiet",
                "-o",
                file.toString()));
        if (!planted.nvml()) {
            options.add("--without-nvml");
        }
        int status = Record.run(options.toArray(String[]::new));
        if (status != 0) {
            throw new IllegalStateException("zernel-record ended with status " + status);
        }
        try (Database database = Recordings.open(file.toString())) {
            return new DiagnosedRun(
                    planted,
                    GroundTruth.of(database.recordings().getFirst()),
                    database.diagnose().findings(),
                    exposed(database),
                    share(database, EVALUATING),
                    share(database, OPTIMIZING));
        } finally {
            delete(file);
        }
    }

    Optional<Finding> first() {
        return findings.stream().findFirst();
    }

    Optional<Finding> finding(String name) {
        return findings.stream().filter(finding -> finding.name().equals(name)).findFirst();
    }

    /// Share of the step that a finding says is lost; 0 where it is not about time.
    double share(Finding finding) {
        Double lost = finding.lostMillisPerStep();
        return lost == null ? 0 : 1e6 * lost / truth.stepNanos();
    }

    /// How much faster the job gets, going by a finding.
    double gain(Finding finding) {
        return 1 / (1 - Math.min(share(finding), 0.999));
    }

    private static double share(Database database, String question) {
        return Objects.requireNonNull(database.query(question).rows().getFirst().real("share"));
    }

    private static Optional<Bounds> exposed(Database database) {
        String question = "FROM unknowns WHERE question = 'how much communication overlaps with compute' ORDER BY pid";
        return database.query(question).rows().stream()
                .findFirst()
                .map(row -> new Bounds(
                        Objects.requireNonNull(row.real("lower_share")), Objects.requireNonNull(row.real("upper_share"))));
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
