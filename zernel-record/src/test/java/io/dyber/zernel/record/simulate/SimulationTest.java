package io.dyber.zernel.record.simulate;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.ColumnType;
import io.dyber.zernel.record.sink.Duck;
import io.dyber.zernel.record.sink.RecordingFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SimulationTest {
    private static final Pattern COLUMN = Pattern.compile(" {4}(\\w+) (BIGINT|VARCHAR)[^-]*-- (?:\\[(\\w+)] )?(.*)");

    @TempDir Path folder;

    @Test
    void theSameSeedGivesTheSameFile() throws IOException {
        Path first = simulate(Scenario.HEALTHY, 7, 50, 2);
        Path second = simulate(Scenario.HEALTHY, 7, 50, 2);

        assertThat(Files.mismatch(first, second)).isEqualTo(-1);
    }

    @Test
    void anotherSeedGivesAnotherJob() throws IOException {
        JsonNode first = footer(simulate(Scenario.HEALTHY, 7, 50, 1), "zernel.simulation");
        JsonNode second = footer(simulate(Scenario.HEALTHY, 8, 50, 1), "zernel.simulation");

        assertThat(first.get("planted_compute_ns")).isNotEqualTo(second.get("planted_compute_ns"));
    }

    @Test
    void everyStepHasItsCallsAndEveryEpochOneMoreNext() throws IOException {
        Path file = simulate(Scenario.DATA_BOUND_CPU, 1, 200, 3);
        long perEpoch = footer(file, "zernel.simulation").get("steps_per_epoch").asLong();
        long epochs = (200 + perEpoch - 1) / perEpoch;

        assertThat(Duck.query(file, """
                SELECT kind, name, count(*) FROM $file WHERE kind IN ('region', 'backward')
                GROUP BY ALL ORDER BY kind, name""")).containsExactly(
                asList("backward", "Engine::execute", 600L),
                asList("region", "DistributedDataParallel.forward", 600L),
                asList("region", "Optimizer.step#AdamW.step", 600L),
                asList("region", "Optimizer.zero_grad#AdamW.zero_grad", 600L),
                asList("region", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                        3 * (200 + epochs)));
    }

    @Test
    void aThreadDoesOneThingAtATime() throws IOException {
        Path file = simulate(Scenario.DATA_BOUND_STORAGE, 2, 100, 2);

        assertThat(Duck.query(file, """
                WITH calls AS (
                    SELECT tid, ts_ns, ts_ns + dur_ns AS end_ns,
                           kind IN ('io', 'wait') AND comm = 'python' AS inner_call
                    FROM $file WHERE dur_ns IS NOT NULL),
                neighbours AS (
                    SELECT *, lag(end_ns) OVER (PARTITION BY tid, inner_call ORDER BY ts_ns) AS before_ns FROM calls)
                SELECT count(*) FROM neighbours WHERE ts_ns < before_ns""")).containsExactly(asList(0L));
    }

    @Test
    void theFooterTellsThatItIsSimulatedAndHowManyEventsThereAre() throws IOException {
        Path file = simulate(Scenario.HEALTHY, 3, 50, 1);
        long events = (Long) Duck.query(file, "SELECT count(*) FROM $file").getFirst().getFirst();
        JsonNode recording = footer(file, "zernel.recording");

        assertThat(recording.get("simulated").asBoolean()).isTrue();
        assertThat(recording.get("events").asLong()).isEqualTo(events);
        assertThat(footer(file, "zernel.probes")).isEmpty();
        assertThat(footer(file, "zernel.schema").get("columns")).isEmpty();
        assertThat(Duck.query(file, "SELECT decode(key) FROM parquet_kv_metadata($file) ORDER BY 1"))
                .extracting(List::getFirst)
                .containsExactly("zernel.clock", "zernel.format", "zernel.kinds", "zernel.losses", "zernel.probes",
                        "zernel.processes", "zernel.recording", "zernel.schema", "zernel.simulation");
    }

    /// The planted bottleneck shows in the events alone: share of training time inside `__next__`, and what part of
    /// the workers' loading is reading.
    @ParameterizedTest
    @CsvSource({
        "HEALTHY, 0.0, 0.12, 0.0, 0.3",
        "DATA_BOUND_CPU, 0.25, 0.65, 0.0, 0.1",
        "DATA_BOUND_STORAGE, 0.25, 0.65, 0.6, 1.0",
        "TOO_FEW_WORKERS, 0.25, 0.65, 0.0, 0.3"
    })
    void whatIsPlantedShows(Scenario scenario, double leastWait, double mostWait, double leastRead, double mostRead)
            throws IOException {
        for (long seed = 1; seed <= 5; seed++) {
            Path file = simulate(scenario, seed, 150, 1);
            List<@Nullable Object> shares = Duck.query(file, """
                    WITH training AS (SELECT min(ts_ns) AS first_ns FROM $file WHERE name LIKE '%__next__')
                    SELECT sum(dur_ns) FILTER (name LIKE '%__next__')
                               / (max(ts_ns + dur_ns) FILTER (name LIKE 'Optimizer.step%') - any_value(first_ns)),
                           sum(dur_ns) FILTER (kind = 'io' AND comm = 'pt_data_worker')
                               / (sum(dur_ns) FILTER (kind = 'io' AND comm = 'pt_data_worker')
                                  + any_value(busy_ns))
                    FROM $file, training,
                         (SELECT sum(gap) AS busy_ns FROM
                             (SELECT ts_ns - lag(ts_ns + dur_ns) OVER (PARTITION BY tid ORDER BY ts_ns) AS gap
                              FROM $file WHERE comm = 'pt_data_worker' AND pid = tid AND dur_ns IS NOT NULL)
                          WHERE gap > 0)""").getFirst();

            assertThat((Double) shares.get(0)).as("%s, seed %d: wait", scenario, seed).isBetween(leastWait, mostWait);
            assertThat((Double) shares.get(1)).as("%s, seed %d: read", scenario, seed).isBetween(leastRead, mostRead);
        }
    }

    private Path simulate(Scenario scenario, long seed, int steps, int ranks) throws IOException {
        Path file = Files.createTempDirectory(folder, "run").resolve("run.parquet");
        Simulation.Target target =
                new Simulation.Target(file, columns(), "{\"columns\":[]}", new RecordingFile.Options());
        Simulation.Result result =
                Simulation.record(new Simulation.Settings(scenario, seed, steps, ranks), target, List.of("--simulate"));
        assertThat(result.bytes()).isEqualTo(Files.size(file));
        return file;
    }

    private static JsonNode footer(Path file, String key) {
        String sql = "SELECT decode(value) FROM parquet_kv_metadata($file) WHERE decode(key) = '" + key + "'";
        return JsonMapper.shared().readTree(String.valueOf(Duck.query(file, sql).getFirst().getFirst()));
    }

    /// The golden event table.
    private static List<Column> columns() throws IOException {
        List<Column> columns = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("../bpf/schema.sql"))) {
            Matcher column = COLUMN.matcher(line);
            if (column.matches()) {
                String unit = column.group(3) == null ? "" : column.group(3);
                columns.add(new Column(column.group(1), ColumnType.valueOf(column.group(2)), unit, column.group(4)));
            }
        }
        assertThat(columns).hasSizeGreaterThan(10);
        return columns;
    }
}
