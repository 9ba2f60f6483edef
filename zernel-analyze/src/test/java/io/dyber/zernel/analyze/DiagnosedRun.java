package io.dyber.zernel.analyze;

import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.record.simulate.Scenario;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.NullMarked;

/// One simulated job, what was planted in it, and what the findings say.
///
/// @param exposed what the report says cannot be known, with its bounds: communication that computation does not hide
@NullMarked
record DiagnosedRun(Case planted, GroundTruth truth, List<Finding> findings, Optional<Bounds> exposed) {

    /// Shares of the step.
    record Bounds(double least, double most) {}

    /// A job to simulate; `strength` is the share of step time that the cause is meant to cost.
    record Case(Scenario scenario, long seed, double strength) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%s seed %d strength %.2f", scenario.label(), seed, strength);
        }
    }

    static DiagnosedRun of(Case planted, Path folder) {
        Path file = folder.resolve("run.parquet");
        int status = Record.run(
                "--simulate=" + planted.scenario().label(),
                "--seed=" + planted.seed(),
                "--strength=" + Math.round(100 * planted.strength()) + "%",
                "--quiet",
                "-o",
                file.toString());
        if (status != 0) {
            throw new IllegalStateException("zernel-record ended with status " + status);
        }
        try (Database database = Recordings.open(file.toString())) {
            return new DiagnosedRun(
                    planted,
                    GroundTruth.of(database.recordings().getFirst()),
                    database.diagnose().findings(),
                    exposed(database));
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
