package io.dyber.zernel.record.simulate;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.recording.Duck;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import io.dyber.zernel.record.schema.EventType;
import io.dyber.zernel.record.schema.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
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

        assertThat(first.get("gpu_ns")).isNotEqualTo(second.get("gpu_ns"));
    }

    @Test
    void everyStepHasItsCallsAndEveryEpochOneMoreNext() throws IOException {
        Path file = simulate(Scenario.WORKER_STARTUP, 1, 100, 3);
        long perEpoch = footer(file, "zernel.simulation").get("steps_per_epoch").asLong();
        long epochs = (100 + perEpoch - 1) / perEpoch;

        assertThat(Duck.query(file, """
                SELECT kind, name, count(*) FROM $file
                WHERE kind = 'backward' OR kind = 'region' AND name NOT LIKE 'c10d%'
                GROUP BY ALL ORDER BY kind, name""")).containsExactly(
                asList("backward", "Engine::execute", 300L),
                asList("region", "DistributedDataParallel.forward", 300L),
                asList("region", "Optimizer.step#AdamW.step", 300L),
                asList("region", "Optimizer.zero_grad#AdamW.zero_grad", 300L),
                asList("region", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                        3 * (100 + epochs)));
    }

    /// Every event lies inside the one around it, or behind it.
    @ParameterizedTest
    @EnumSource(Scenario.class)
    void theEventsOfAThreadNest(Scenario scenario) throws IOException {
        Path file = simulate(scenario, 2, 10, scenario.usualRanks());
        Deque<Long> open = new ArrayDeque<>();
        long thread = -1;
        for (List<@Nullable Object> row : Duck.query(file, """
                SELECT tid, ts_ns, ts_ns + dur_ns, concat_ws(' ', kind, name, comm) FROM $file
                WHERE dur_ns IS NOT NULL ORDER BY tid, ts_ns, dur_ns DESC, depth""")) {
            if ((Long) row.get(0) != thread) {
                thread = (Long) row.get(0);
                open.clear();
            }
            while (!open.isEmpty() && open.peek() <= (Long) row.get(1)) {
                open.pop();
            }
            assertThat((Long) row.get(2)).as("%s: %s", scenario, row).isLessThanOrEqualTo(
                    open.isEmpty() ? Long.MAX_VALUE : open.peek());
            open.push((Long) row.get(2));
        }
        assertThat(thread).isPositive();
    }

    @ParameterizedTest
    @EnumSource(Scenario.class)
    void everyKindHasOnlyColumnsThatItHasInARealRecording(Scenario scenario) throws IOException {
        Schema schema = CompiledPrograms.schema(List.of());
        Path file = simulate(scenario, 2, 10, scenario.usualRanks());
        List<String> names = schema.columns().stream().map(Column::name).toList();
        String counts = names.stream().map(name -> "count(" + name + ")").collect(Collectors.joining(", "));
        Map<String, List<String>> real = schema.kinds().stream()
                .collect(Collectors.toMap(EventType::kind, Schema::columnsOf));
        List<List<@Nullable Object>> rows = Duck.query(file, "SELECT kind, " + counts + " FROM $file GROUP BY kind");
        assertThat(rows).hasSizeGreaterThan(scenario.usesGpu() ? 10 : 6);
        for (List<@Nullable Object> row : rows) {
            List<String> used = IntStream.range(0, names.size())
                    .filter(i -> !Long.valueOf(0).equals(row.get(i + 1)))
                    .mapToObj(names::get)
                    .toList();
            assertThat(real.get((String) row.getFirst())).as("%s: %s", scenario, row.getFirst()).containsAll(used);
        }
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
                .containsExactly("zernel.clock", "zernel.detail", "zernel.format", "zernel.gpus", "zernel.kinds",
                        "zernel.losses", "zernel.probes", "zernel.processes", "zernel.recording", "zernel.schema",
                        "zernel.simulation", "zernel.threads");
        assertThat(footer(file, "zernel.threads").valueStream().mapToLong(row -> row.get("events").asLong()).sum())
                .isEqualTo(events);
    }

    @Test
    void theFooterTellsWhatTheCauseCosts() throws IOException {
        JsonNode simulation = footer(simulate(Scenario.SYNC_BOUND, 4, 100, 1), "zernel.simulation");
        JsonNode cause = simulation.get("causes").get(0);
        long step = simulation.get("step_ns").asLong();

        assertThat(simulation.get("causes")).hasSize(1);
        assertThat(cause.get("cause").asString()).isEqualTo("sync-bound");
        assertThat(cause.get("strength").asDouble()).isEqualTo(0.3);
        assertThat(cause.get("lost_share").asDouble()).isBetween(0.27, 0.33);
        assertThat(cause.get("lost_ns").asLong()).isEqualTo(step - cause.get("step_ns_without").asLong());
        assertThat(footer(simulate(Scenario.HEALTHY, 4, 50, 1), "zernel.simulation").get("causes")).isEmpty();
    }

    @Test
    void asManyStepsAsMakeTheEventsAskedFor() throws IOException {
        Path file = write(new Simulation.Settings(Scenario.HEALTHY, 5, 1, 1).withEvents(100_000));

        assertThat(footer(file, "zernel.recording").get("events").asLong()).isBetween(95_000L, 105_000L);
        assertThat(footer(file, "zernel.simulation").get("steps").asLong()).isGreaterThan(100);
    }

    @Test
    void aThreadThatWaitsForPythonsLockAsksForItEachFiveMilliseconds() throws IOException {
        Path file = simulate(Scenario.GIL, 1, 50, 1);

        assertThat(Duck.query(file, """
                SELECT DISTINCT status, dur_ns, object FROM $file
                WHERE kind = 'wait' AND pid = 4001 AND name = 'futex' AND status <> 0"""))
                .containsExactly(asList(-110L, 5_080_000L, "futex"));
        assertThat(Duck.query(file, """
                SELECT count(DISTINCT waits.addr), count(DISTINCT sched.waker_tid), count(DISTINCT sched.state)
                FROM (FROM $file WHERE kind = 'wait' AND pid = 4001 AND name = 'futex') AS waits
                JOIN (FROM $file WHERE kind = 'sched') AS sched
                    ON sched.tid = waits.tid AND sched.ts_ns BETWEEN waits.ts_ns AND waits.ts_ns + waits.dur_ns
                WHERE waits.status = -110"""))
                .containsExactly(asList(2L, 0L, 1L));
    }

    @Test
    void aLockIsHandedOverByTheThreadThatHeldIt() throws IOException {
        assertThat(Duck.query(simulate(Scenario.LOCK, 1, 50, 1), """
                SELECT waker_tid, count(*) FROM $file WHERE kind = 'sched' AND waker_tid IS NOT NULL GROUP BY ALL"""))
                .containsExactly(asList(4004L, 50L));
    }

    @Test
    void aJobWithoutGpusLaunchesNothingAndHasNoDriverToAsk() throws IOException {
        Path file = simulate(Scenario.WORK_BETWEEN_CALLS, 1, 50, 1);

        assertThat(Duck.query(file, """
                SELECT DISTINCT kind FROM $file
                WHERE kind SIMILAR TO '(cuda|gpu|torch|nccl).*'""")).isEmpty();
        assertThat(footer(file, "zernel.gpus").get("devices")).isEmpty();
    }

    @Test
    void aDriverThatCannotBeAskedChangesNothingElse() throws IOException {
        Simulation.Settings settings = new Simulation.Settings(Scenario.SYNC_BOUND, 3, 50, 1);
        Path with = write(settings);
        Path without = write(settings.withoutNvml());
        String others = "SELECT count(*) FROM $file WHERE kind NOT IN ('gpu_sample', 'gpu_process')";

        assertThat(Duck.query(without, others)).isEqualTo(Duck.query(with, others));
        assertThat(Duck.query(without, "FROM $file WHERE kind IN ('gpu_sample', 'gpu_process')")).isEmpty();
        assertThat(footer(without, "zernel.gpus").get("why").asString()).isEqualTo("libnvidia-ml.so.1 is not installed");
    }

    @Test
    void workersOfARemoteStoreWaitInSocketsOrAsleep() throws IOException {
        assertThat(Duck.query(simulate(Scenario.REMOTE_DATA, 1, 50, 1), """
                SELECT DISTINCT name, object LIKE 'socket:%' FROM $file
                WHERE kind = 'wait' AND comm = 'pt_data_worker' AND name IN ('recvfrom', 'clock_nanosleep')
                ORDER BY name""")).containsExactly(asList("clock_nanosleep", null), asList("recvfrom", true));
    }

    @Test
    void workersAreForkedAndJoinedWhereTheProgramPaysForThem() throws IOException {
        Path file = simulate(Scenario.WORKER_STARTUP, 1, 100, 1);
        String inNext = """
                SELECT count(*) FROM (FROM $file WHERE kind = 'process' AND name = '%s' AND %s) AS one
                JOIN (FROM $file WHERE name LIKE 'enumerate%%') AS next
                    ON one.ts_ns > next.ts_ns AND one.ts_ns < next.ts_ns + next.dur_ns""";
        Object exits = Duck.query(file, "SELECT count(*) FROM $file WHERE name = 'exit' AND comm = 'pt_data_worker'")
                .getFirst().getFirst();

        assertThat(Duck.query(file, inNext.formatted("fork", "true"))).containsExactly(asList(0L));
        assertThat(Duck.query(file, inNext.formatted("exit", "comm = 'pt_data_worker'"))).containsExactly(asList(exits));
    }

    @Test
    void aHangShowsWhoIsMissingWhereAndWhoWaits() throws IOException {
        Path file = simulate(Scenario.HANG, 6, 60, 4);
        JsonNode cause = footer(file, "zernel.simulation").get("causes").get(0);
        long missing = cause.get("missing_rank").asLong();

        assertThat(cause.get("lost_ns").isNull()).isTrue();
        assertThat(Duck.query(file, """
                SELECT rank FROM $file WHERE kind = 'nccl' GROUP BY rank
                HAVING max(seq) < %d""".formatted(cause.get("missing_collective").asLong())))
                .containsExactly(asList(missing));
        assertThat(Duck.query(file, """
                SELECT DISTINCT pid FROM $file WHERE kind = 'cuda_sync' AND dur_ns IS NULL""")).hasSize(3);
    }

    @Test
    void aLeakGrowsByWhatTheFooterSays() throws IOException {
        Path file = simulate(Scenario.MEMORY_LEAK, 6, 60, 1);
        long perStep = footer(file, "zernel.simulation").get("causes").get(0).get("leak_bytes_per_step").asLong();
        long kept = ((Number) Duck.query(file, """
                SELECT CAST(sum(CASE kind WHEN 'torch_alloc' THEN bytes WHEN 'torch_free' THEN -bytes END) AS BIGINT)
                FROM $file
                WHERE ts_ns > (SELECT min(ts_ns + dur_ns) FROM $file WHERE name LIKE 'Optimizer.step%')
                    AND ts_ns < (SELECT max(ts_ns + dur_ns) FROM $file WHERE name LIKE 'Optimizer.step%')""")
                .getFirst().getFirst()).longValue();

        assertThat(kept / 59.0).isCloseTo((double) perStep, withinPercentage(2));
    }

    @Test
    void aMixtureHasTwoCauses() throws IOException {
        for (long seed = 1; seed <= 2; seed++) {
            JsonNode causes = footer(simulate(Scenario.MIXED, seed, 100, 1), "zernel.simulation").get("causes");

            assertThat(causes).hasSize(2);
            assertThat(causes.get(0).get("cause")).isNotEqualTo(causes.get(1).get("cause"));
            assertThat(causes.get(0).get("lost_share").asDouble()).as("seed %d", seed).isBetween(0.13, 0.24);
            assertThat(causes.get(1).get("lost_share").asDouble()).as("seed %d", seed).isBetween(0.07, 0.17);
        }
    }

    private Path simulate(Scenario scenario, long seed, int steps, int ranks) throws IOException {
        return write(new Simulation.Settings(scenario, seed, steps, ranks));
    }

    private Path write(Simulation.Settings settings) throws IOException {
        Path file = Files.createTempDirectory(folder, "run").resolve("run.parquet");
        Simulation.Target target =
                new Simulation.Target(file, columns(), "{\"columns\":[]}", new RecordingFile.Options());
        Simulation.Result result = Simulation.record(settings, target, List.of("--simulate"));
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
