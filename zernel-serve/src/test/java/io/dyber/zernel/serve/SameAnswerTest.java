package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.Table;
import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.record.simulate.Scenario;
import io.dyber.zernel.serve.analysis.Analysis;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// A replay to the end says of steps, phases and late ranks what the analyzer says of the recording: simulated jobs with
/// each cause, and real ones on an H100 from the folder that the property `recordings` names.
final class SameAnswerTest {
    private static final List<Path> REAL = List.of(
            Path.of("../zernel-analyze/src/test/resources/h100"),
            Path.of(System.getProperty("recordings", "../../shared/gpu/recordings")));

    @TempDir
    private static Path folder;

    @ParameterizedTest
    @EnumSource
    void ofSimulatedJobs(Scenario scenario) throws Exception {
        Path file = folder.resolve(scenario.label() + ".parquet");
        assertThat(Record.run("--simulate=" + scenario.label(), "--seed=1", "--steps=30", "--quiet", "-o", file.toString()))
                .isZero();
        assertSame(file);
    }

    @ParameterizedTest
    @MethodSource("real")
    void ofRealJobs(Path file) throws Exception {
        assumeThat(file).as("recordings in " + REAL + "; -Drecordings=FOLDER names another folder").exists();
        assertSame(file);
    }

    static List<Path> real() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path place : REAL) {
            if (Files.isDirectory(place)) {
                try (Stream<Path> entries = Files.list(place)) {
                    entries.filter(file -> file.toString().endsWith(".parquet"))
                            .filter(file -> files.stream().noneMatch(other -> other.getFileName().equals(file.getFileName())))
                            .sorted()
                            .forEach(files::add);
                }
            } else {
                files.add(place);
            }
        }
        return files;
    }

    private static void assertSame(Path file) throws Exception {
        try (Database analyzed = Recordings.open(file.toString());
                EventSource replay = new Replay(file, Replay.Options.at(Speed.MAX));
                Analysis analysis = new Analysis(replay, false)) {
            LiveMetrics served = replayed(replay, analysis);
            assertThat(analysis.note()).isEmpty();
            assertThat(numbers(served, Metrics.STEPS)).isEqualTo(answer(analyzed, "SELECT pid, count(*) FROM steps GROUP BY pid"));
            assertClose(sums(served, Metrics.STEP), answer(analyzed, "SELECT pid, sum(dur_ns) / 1e9 FROM steps GROUP BY pid"), 1e-6);
            Map<String, Double> phases = numbers(served, Metrics.PHASE_SECONDS);
            assertClose(phases, answer(analyzed, """
                    SELECT pid || ' ' || replace(phase, '_ns', ''), sum(ns) / 1e9
                    FROM (
                        UNPIVOT (SELECT pid, data_loading_ns, gpu_compute_ns, nccl_collective_ns, optimizer_step_ns, unknown_ns FROM steps)
                        ON COLUMNS(* EXCLUDE (pid)) INTO NAME phase VALUE ns
                    )
                    GROUP BY ALL
                    """), 1e-6);
            // Before the first step and after the last one a thread has phases too.
            Map<String, Double> outside = answer(analyzed, """
                    SELECT phases.pid, 1 - any_value(stepping.dur_ns) / sum(phases.total_ns)
                    FROM process_phases AS phases
                    JOIN (SELECT pid, sum(dur_ns) AS dur_ns FROM steps GROUP BY pid) AS stepping USING (pid)
                    GROUP BY phases.pid
                    """);
            Map<String, Double> shares = shares(phases);
            answer(analyzed, """
                    SELECT pid || ' ' || regexp_replace(phase, '([a-z])([A-Z])', '\\1_\\2').lower(), fraction
                    FROM process_phases
                    SEMI JOIN steps USING (pid)
                    """)
                    .forEach((name, share) -> assertThat(shares.getOrDefault(name, 0.0))
                            .as(name)
                            .isCloseTo(share, within(0.01 + outside.getOrDefault(name.split(" ")[0], 0.0))));
            assertClose(sums(served, Metrics.NCCL_LATE),
                    answer(analyzed, """
                            SELECT pid, sum(at_ns - first_ns) / 1e9
                            FROM rank_arrivals JOIN collective_arrivals USING (comm_id, number)
                            WHERE ranks > 1
                            GROUP BY pid
                            """), 1e-6);
            assertThat(sums(served, Metrics.NCCL_SKEW).values().stream().mapToDouble(sum -> sum).sum())
                    .isCloseTo(answer(analyzed, "SELECT 'all', sum(skew_ns) / 1e9 FROM collective_arrivals WHERE ranks > 1")
                            .getOrDefault("all", 0.0), within(1e-6));
        }
    }

    private static LiveMetrics replayed(EventSource replay, Analysis analysis) throws IOException, InterruptedException {
        LiveMetrics live = new LiveMetrics(100, analysis.inferences(), _ -> {});
        analysis.start();
        analysis.awaitBegin();
        Optional<EventBatch> batch = replay.next();
        while (batch.isPresent()) {
            live.apply(batch.get());
            batch = replay.next();
        }
        live.finish();
        return live;
    }

    private static Map<String, Double> numbers(LiveMetrics live, Metric metric) {
        Map<String, Double> values = new TreeMap<>();
        live.read(0, true, view -> view.numbers(metric, (labels, value) -> values.put(String.join(" ", labels), value)));
        return values;
    }

    private static Map<String, Double> sums(LiveMetrics live, Metric metric) {
        Map<String, Double> sums = new TreeMap<>();
        live.read(0, true, view -> view.series().durations(metric).forEach((labels, durations) ->
                sums.put(String.join(" ", labels), durations.sumSeconds())));
        return sums;
    }

    /// Of each process, by `PID PHASE`.
    private static Map<String, Double> shares(Map<String, Double> seconds) {
        Map<String, Double> totals = new TreeMap<>();
        seconds.forEach((name, value) -> totals.merge(name.split(" ")[0], value, Double::sum));
        Map<String, Double> shares = new TreeMap<>();
        seconds.forEach((name, value) -> shares.put(name, value / totals.getOrDefault(name.split(" ")[0], 1.0)));
        return shares;
    }

    /// The first column is a name, the second a number; NULLs are left out.
    private static Map<String, Double> answer(Database database, String sql) {
        Map<String, Double> answer = new TreeMap<>();
        Table table = database.query(sql);
        for (Table.Row row : table.rows()) {
            Object name = row.value(table.columns().get(0).name());
            if (row.value(table.columns().get(1).name()) instanceof Number number) {
                answer.put(String.valueOf(name), number.doubleValue());
            }
        }
        return answer;
    }

    /// What is missing is 0.
    private static void assertClose(Map<String, Double> actual, Map<String, Double> expected, double offset) {
        assertThat(expected.keySet()).containsAll(actual.keySet().stream().filter(name -> actual.getOrDefault(name, 0.0) > offset).toList());
        expected.forEach((name, value) ->
                assertThat(actual.getOrDefault(name, 0.0)).as("%s of %s", name, actual).isCloseTo(value, within(offset)));
    }
}
