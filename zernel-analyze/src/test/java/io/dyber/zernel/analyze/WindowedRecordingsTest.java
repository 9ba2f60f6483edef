package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.record.simulate.Scenario;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A recording with detail in windows of time says what the recording of all calls says: the same steps, the same findings
/// in the same order, lost time and gains within a tenth, phases within a point. Recordings of real jobs and simulated
/// ones, with all their detail and a part of it. All of them, in two lengths of windows, take five minutes
/// (`-Dwindowed.all=true`); without that a few do.
class WindowedRecordingsTest {
    private static final double TOLERANCE = 0.1;
    private static final boolean ALL = Boolean.getBoolean("windowed.all");
    private static final Set<String> FEW = Set.of("generate.parquet", "resnet.parquet", "pageable2.parquet");

    /// Length of a window in median steps: never a whole number, so that their edges lie anywhere in steps.
    private static final double WINDOW_STEPS = 5.4;

    @TempDir
    private Path folder;

    /// What a report says.
    ///
    /// @param findings name and subject, with what is lost and gained
    /// @param steps what the steps of each thread are
    /// @param phases share of each phase by thread
    private record Said(Map<String, List<Double>> findings, List<String> steps, Map<String, Double> phases) {
        static Said of(Path file) {
            try (Database database = Recordings.open(file.toString())) {
                Diagnosis diagnosis = Report.diagnose(database);
                assertThat(diagnosis.skipped()).isEmpty();
                Map<String, List<Double>> findings = new LinkedHashMap<>();
                diagnosis.findings().forEach(finding -> findings.put(
                        finding.name() + " of " + finding.subject(),
                        Stream.of(finding.lostMillisPerStep(), finding.maxSpeedup())
                                .map(value -> value == null ? 0 : value)
                                .toList()));
                List<String> steps = new ArrayList<>();
                database.query("SELECT pid, tid, steps, steady_steps, step_source, step_p50_ns FROM training_threads")
                        .rows()
                        .forEach(row -> steps.add(row.toString()));
                Map<String, Double> phases = new LinkedHashMap<>();
                for (Table.Row row : database.query("SELECT format('{} {} {}', recording, tid, phase) AS what, share FROM phases")
                        .rows()) {
                    phases.put(row.requiredText("what"), row.real("share"));
                }
                return new Said(findings, steps, phases);
            }
        }
    }

    static Stream<Path> files() throws Exception {
        return RealRecordingsTest.files().stream()
                .filter(file -> ALL || FEW.contains(file.getFileName().toString()));
    }

    static Stream<Scenario> scenarios() {
        return Stream.of(
                        Scenario.MEMORY_LEAK,
                        Scenario.LAUNCH_BOUND,
                        Scenario.HEALTHY,
                        Scenario.SYNC_BOUND,
                        Scenario.ALLOCATOR_CHURN,
                        Scenario.STRAGGLER_RANK)
                .limit(ALL ? 6 : 2);
    }

    @ParameterizedTest
    @MethodSource("files")
    void windowsOfARealJobSayWhatAllOfItsCallsSay(Path file) {
        compare(file);
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void windowsOfASimulatedJobSayWhatAllOfItsCallsSay(Scenario scenario) {
        Path file = folder.resolve("run.parquet");
        assertThat(Record.run("--simulate=" + scenario.label(), "--seed=5", "--quiet", "-o", file.toString())).isZero();
        compare(file);
    }

    private void compare(Path file) {
        WindowedCopy copy = new WindowedCopy(file);
        Said whole = Said.of(copy.whole(folder.resolve("whole.parquet")));
        for (double share : ALL ? new double[] {0.08, 0.5} : new double[] {0.08}) {
            List<WindowedCopy.Window> windows = windows(file, share);
            compare(whole, Said.of(copy.write(folder.resolve("part.parquet"), windows)));
        }
        compare(whole, Said.of(copy.withFewEnds(folder.resolve("part.parquet"))));
    }

    private static void compare(Said whole, Said part) {
        SoftAssertions.assertSoftly(softly -> {
            softly.assertThat(part.steps()).isEqualTo(whole.steps());
            softly.assertThat(part.findings().keySet()).containsExactlyElementsOf(whole.findings().keySet());
            whole.findings().forEach((name, numbers) -> {
                for (int i = 0; i < numbers.size() && part.findings().containsKey(name); i++) {
                    softly.assertThat(part.findings().get(name).get(i))
                            .as(name)
                            .isCloseTo(numbers.get(i), within(TOLERANCE * numbers.get(i)));
                }
            });
            softly.assertThat(part.phases().keySet()).isEqualTo(whole.phases().keySet());
            whole.phases().forEach((name, value) -> softly.assertThat(part.phases().getOrDefault(name, 0.0))
                    .as(name)
                    .isCloseTo(value, within(0.01)));
        });
    }

    /// So many that at least ten steps are wholly in one, or a share of the time.
    private static List<WindowedCopy.Window> windows(Path file, double share) {
        try (Database database = Recordings.open(file.toString())) {
            Table.Row span = database.query("SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns, "
                            + "CAST(median(dur_ns) AS BIGINT) AS step_ns FROM steps WHERE step_kind = 'train'")
                    .only();
            long all = span.integer("end_ns") - span.integer("start_ns");
            long length = Math.round(WINDOW_STEPS * span.integer("step_ns"));
            long count = Math.max(3, Math.round(share * all / length));
            return WindowedCopy.windows(
                    span.integer("start_ns"), span.integer("end_ns"), (int) Math.min(count, all / 2 / length), length);
        }
    }
}
