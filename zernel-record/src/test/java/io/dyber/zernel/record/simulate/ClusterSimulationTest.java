package io.dyber.zernel.record.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.recording.Duck;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.simulate.ClusterSimulation.Cluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A recording for each machine of a job.
class ClusterSimulationTest {
    private static final int STEPS = 6;

    @TempDir
    Path folder;

    @Test
    void theRanksOfAMachineCallWhenTheyDoInARunOfAll() throws IOException {
        Path one = simulate("one", 4, 4, "straggler-rank@rank=2");
        Path two = simulate("two", 4, 2, "straggler-rank@rank=2");

        List<List<@Nullable Object>> all = new ArrayList<>(calls(one.resolve("node0000.parquet")));
        List<List<@Nullable Object>> parts = new ArrayList<>(calls(two.resolve("node0000.parquet")));
        parts.addAll(calls(two.resolve("node0001.parquet")));
        assertThat(parts).hasSizeGreaterThan(4 * STEPS).isEqualTo(all);
    }

    @Test
    void theSameSeedGivesTheSameFiles() throws IOException {
        Path first = simulate("first", 3, 2, "gc-stall@node=1");
        Path second = simulate("second", 3, 2, "gc-stall@node=1");

        assertThat(Files.mismatch(first.resolve("node0000.parquet"), second.resolve("node0000.parquet"))).isEqualTo(-1);
        assertThat(Files.mismatch(first.resolve("node0001.parquet"), second.resolve("node0001.parquet"))).isEqualTo(-1);
        assertThat(first.resolve("node0002.parquet")).doesNotExist();
    }

    @Test
    void everyMachineHasAClockOfItsOwnAndItsRanks() throws IOException {
        Path files = simulate("clocks", 4, 2);
        JsonNode first = footer(files.resolve("node0000.parquet"), "zernel.clock");
        JsonNode second = footer(files.resolve("node0001.parquet"), "zernel.clock");

        assertThat(first.get("boot_id")).isNotEqualTo(second.get("boot_id"));
        assertThat(first.get("offset_ns")).isNotEqualTo(second.get("offset_ns"));
        assertThat(clockNanos(files.resolve("node0000.parquet"))).isNotEqualTo(clockNanos(files.resolve("node0001.parquet")));
        assertThat(Math.abs(clockNanos(files.resolve("node0001.parquet")))).isLessThan(5_000_000);
        assertThat(footer(files.resolve("node0001.parquet"), "zernel.recording").get("host").asString()).isEqualTo("node0001");
        assertThat(Duck.query(files.resolve("node0001.parquet"), """
                SELECT DISTINCT rank, nranks, pid FROM $file WHERE kind = 'nccl' ORDER BY rank"""))
                .containsExactly(List.of(2L, 4L, 4001L), List.of(3L, 4L, 14_001L));
    }

    @Test
    void aCauseIsOfTheRanksThatItWasAskedForAndTheFooterOfEachMachineSaysSo() throws IOException {
        Path files = simulate("causes", 4, 2, "remote-data@node=1", "straggler-rank@rank=0");
        String waits = "SELECT count(*) FROM $file WHERE kind = 'wait' AND name IN ('recvfrom', 'clock_nanosleep')";
        JsonNode causes = footer(files.resolve("node0000.parquet"), "zernel.simulation").get("causes");

        assertThat(Duck.query(files.resolve("node0000.parquet"), waits)).containsExactly(List.of(0L));
        assertThat((Long) Duck.query(files.resolve("node0001.parquet"), waits).getFirst().getFirst()).isPositive();
        assertThat(causes.valueStream().map(cause -> cause.get("place").asString()))
                .containsExactly("remote-data@node=1", "straggler-rank@rank=0");
        assertThat(causes.get(1).get("late_rank").asInt()).isZero();
    }

    @Test
    void aRankThatBecomesLateIsLikeTheOthersUntilThen() throws IOException {
        List<List<@Nullable Object>> healthy = calls(simulate("healthy", 40, 4, 2).resolve("node0001.parquet"));
        List<List<@Nullable Object>> later = calls(simulate("later", 40, 4, 2, "straggler-rank@rank=2,from=4").resolve("node0001.parquet"));
        int before = later.size() / 40;

        assertThat(later).hasSameSizeAs(healthy);
        assertThat(later.subList(0, before)).isEqualTo(healthy.subList(0, before));
        assertThat(later.getLast().getLast()).isNotEqualTo(healthy.getLast().getLast());
    }

    @Test
    void causesOfTheWholeJobAreNotPlaced() {
        assertThatThrownBy(() -> PlacedCause.parse("comm-bound@node=1"))
                .hasMessageStartingWith("'comm-bound' concerns all ranks; causes of some are data-bound-cpu,");
        assertThatThrownBy(() -> PlacedCause.parse("sloth@node=1")).hasMessageStartingWith("unknown cause 'sloth'");
        assertThatThrownBy(() -> PlacedCause.parse("hang@4")).hasMessage("'hang@4' is not CAUSE@node=N or CAUSE@rank=N, with ,from=STEP or without");
        assertThatThrownBy(() -> PlacedCause.parse("hang@rank=4,from=2")).hasMessage("'hang' cannot begin with a step; straggler-rank can");
        assertThat(PlacedCause.parse("hang@rank=4")).hasToString("hang@rank=4");
        assertThat(PlacedCause.parse("straggler-rank@rank=4,from=20")).hasToString("straggler-rank@rank=4,from=20");
    }

    @Test
    void onlyStepsThatAreAskedForAreRecorded() throws IOException {
        List<List<@Nullable Object>> whole = calls(simulate("whole", 4, 2).resolve("node0001.parquet"));
        Path file = simulate("part", STEPS, new Cluster(2, 0.1, List.of(), new Cluster.Steps(2, 4)), 4).resolve("node0001.parquet");

        List<List<@Nullable Object>> part = calls(file);
        assertThat(whole).containsAll(part);
        assertThat(part.size()).isBetween(whole.size() / 4, whole.size() / 2);
        assertThat(footer(file, "zernel.recording").get("started_ns").asLong())
                .isLessThanOrEqualTo((Long) Duck.query(file, "SELECT min(ts_ns) FROM $file").getFirst().getFirst());
        assertThat(Duck.query(file, "SELECT count(*) FROM $file WHERE name IN ('exec', 'exit')")).containsExactly(List.of(0L));
    }

    private Path simulate(String name, int ranks, int perNode, String... causes) throws IOException {
        return simulate(name, STEPS, ranks, perNode, causes);
    }

    private Path simulate(String name, int steps, int ranks, int perNode, String... causes) throws IOException {
        List<PlacedCause> placed = List.of(causes).stream().map(PlacedCause::parse).toList();
        return simulate(name, steps, new Cluster(perNode, 0.1, placed), ranks);
    }

    private Path simulate(String name, int steps, Cluster cluster, int ranks) throws IOException {
        Path output = Files.createDirectories(folder.resolve(name));
        Simulation.Settings settings = new Simulation.Settings(Scenario.HEALTHY, 5, steps, ranks);
        Simulation.Target target = new Simulation.Target(
                output, CompiledPrograms.schema(List.of()).columns(), "{\"columns\":[]}", new RecordingFile.Options());
        ClusterSimulation.record(settings, cluster, target, List.of("--simulate"), _ -> {});
        return output;
    }

    /// When each rank called each collective, by the right clock.
    private static List<List<@Nullable Object>> calls(Path file) {
        return Duck.query(file, "SELECT rank, seq, ts_ns - " + clockNanos(file) + " FROM $file WHERE kind = 'nccl' ORDER BY rank, seq");
    }

    private static long clockNanos(Path file) {
        return footer(file, "zernel.simulation").get("clock_ns").asLong();
    }

    private static JsonNode footer(Path file, String key) {
        String sql = "SELECT decode(value) FROM parquet_kv_metadata($file) WHERE decode(key) = '" + key + "'";
        return JsonMapper.shared().readTree(String.valueOf(Duck.query(file, sql).getFirst().getFirst()));
    }
}
