package io.dyber.zernel.serve.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WatchScreenTest {
    private static final String SNAPSHOT = """
            {"gpu_utilization":[{"key":"4242:0","current_bytes":3221225472,"peak_bytes":4294967296}],
             "cuda_latency_p50_us":0.0,"cuda_latency_p99_us":0.0,"nccl_allreduce_p50_ms":0.0,
             "nccl_allreduce_p99_ms":0.0,"dataloader_wait_p50_ms":30.0,"last_update_ms":1700000000000,
             "zernel":{"version":1,
              "source":{"mode":"replay","path":"run.parquet","speed":"10x","ended":false,"note":"round 2"},
              "event_time_ms":1700000000000.0,"measured":{"dataloader_wait":"pid 4242"},"events":1234567.0,"lost":3.0,
              "processes":[{"pid":"4242","rank":"1","comm":"python3","steps":50.0,"late_p50_ms":2.5,"lateness":"late","data_wait_p50_ms":30.0,"launch_p99_ms":null,
                "step":{"metric":"zernel_step_seconds","labels":{"pid":"4242"},"count":50,"sum_seconds":5.0,
                        "p50_ms":100.0,"p99_ms":120.0},
                "phases":{"data_loading":0.3,"gpu_compute":0.5,"unknown":0.2}}],
              "gpus":[{"gpu_id":"0","utilization":0.72,"memory_used_bytes":42949672960,"memory_total_bytes":85899345920}],
              "findings":{"as_of_ms":1,"findings":[{"severity":"high","title":"Training waits for data.",
                "subject":"pid 4242","lost_ms_per_step":30.0,"advice":"use workers",
                "lines":["62 % of the loading: data.py:7 load -> read","9 % of the loading: data.py:3 parse"]}]},
              "alerts":[{"name":"GpuMemory","state":"firing","text":"GPU 0 is full"}],
              "timings":[{"metric":"zernel_io_seconds","labels":{"pid":"4243"},"count":9000,"sum_seconds":1.0,
                          "p50_ms":0.2,"p99_ms":null},
                         {"metric":"zernel_step_seconds","labels":{"pid":"4242"},"count":50,"sum_seconds":5.0,
                          "p50_ms":100.0,"p99_ms":120.0}]}}
            """;

    private final WatchScreen screen = new WatchScreen("ws://localhost:9092", ZoneOffset.UTC, false);

    @Test
    void aSnapshotIsDrawn() {
        screen.accept(SNAPSHOT);
        screen.accept(SNAPSHOT.replace("\"p50_ms\":100.0", "\"p50_ms\":50.0").replace("\"event_time_ms\":1700000000000.0", "\"event_time_ms\":1700000001000.0"));
        assertThat(String.join("\n", screen.draw(100, Integer.MAX_VALUE))).isEqualTo("""
                Zernel  connected  ws://localhost:9092
                replay 10x of run.parquet  22:13:21  1,234,567 events, 3 lost  (round 2)
                ALERT firing GpuMemory  GPU 0 is full
                python3 4242  50 steps  step p50 50.0 ms  p99 120.0 ms
                ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓██████████████████████████████████████████████████░░░░░░░░░░░░░░░░░░░░
                ▓ data loading 30 %  █ gpu compute 50 %  ░ unknown 20 %
                  step p50         50.0 ms  █▅
                  GPU 0 ██████████████████░░░░░░░  72 % busy  ██████░░░░░░ 40.0 of 80.0 GiB
                  pid 4242 GPU 0  ███████████████████░░░░░░ 3.0 of its peak 4.0 GiB
                What to fix, first what costs most
                     30.0 ms  Training waits for data. (pid 4242)
                              62 % of the loading: data.py:7 load -> read
                              use workers

                rank pid      process         steps  step p50  step p99 late p50  wait p50 launch p99   GiB
                   1 4242     python3            50   50.0 ms  120.0 ms   2.5 ms   30.0 ms          -   3.0

                timings of the last minute                      count         p50         p99
                  io 4243                                       9,000      200 us           -
                  step 4242                                        50     50.0 ms    120.0 ms""");
    }

    @Test
    void ofAProcesssOperationsTheSlowestIsDrawn() {
        String operations = """
                ,{"metric":"zernel_nccl_collective_duration_seconds","labels":{"op":"all_reduce","pid":"4242"},"count":90,"p50_ms":4.0,"p99_ms":8.0},
                {"metric":"zernel_nccl_collective_duration_seconds","labels":{"op":"all_gather","pid":"4242"},"count":9,"p50_ms":1.0,"p99_ms":2.0},
                {"metric":"zernel_nccl_collective_duration_seconds","labels":{"op":"broadcast","pid":"4242"},"count":1,"p50_ms":null,"p99_ms":null}]}}
                """;
        screen.accept(SNAPSHOT.replaceFirst("]}}\\s*$", operations));
        screen.accept(SNAPSHOT.replaceFirst("]}}\\s*$", operations.replace("8.0", "4.0")));
        assertThat(screen.draw(100, 40)).contains("  NCCL p99          4.0 ms  █▅");
    }

    @Test
    void aSmallAndALargeScreenAreFilledAndNotExceeded() {
        screen.accept(SNAPSHOT);
        assertThat(screen.draw(80, 24))
                .hasSize(24)
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80))
                .last().asString().startsWith("q quit  p pause  j k scroll  order by: s steps*");
        assertThat(screen.draw(200, 50)).hasSize(50).contains(" ".repeat(14) + "use workers");
    }

    @Test
    void aPausedScreenKeepsItsSnapshot() {
        screen.accept(SNAPSHOT);
        screen.key('p');
        screen.accept(SNAPSHOT.replace("1234567", "2234567"));
        assertThat(screen.draw(100, 24).getFirst()).startsWith("Zernel  paused  connected");
        assertThat(screen.draw(100, 24).get(1)).contains("1,234,567 events");
        screen.key('p');
        assertThat(screen.draw(100, 24).get(1)).contains("2,234,567 events");
    }

    @Test
    void aKeyOrdersTheTable() {
        String second = """
                ,{"pid":"9","comm":"slow","steps":2.0,"step":{"p50_ms":900.0,"p99_ms":900.0},"phases":{}}]\
                """;
        screen.accept(SNAPSHOT.replace("\"unknown\":0.2}}]", "\"unknown\":0.2}}" + second));
        assertThat(rows()).containsExactly("4242", "9");
        screen.key('t');
        assertThat(rows()).containsExactly("9", "4242");
        assertThat(screen.draw(100, 24)).last().asString().contains("t step time*");
        screen.key('r');
        assertThat(rows()).containsExactly("4242", "9");
        screen.key('j');
        assertThat(rows()).containsExactly("9");
        screen.key('j');
        assertThat(rows()).containsExactly("9");
        screen.key('k');
        assertThat(rows()).containsExactly("4242", "9");
    }

    @Test
    void namesOfProcessesDoNotSteerTheTerminal() {
        screen.accept(SNAPSHOT.replace("python3", "\\u001b[2Jx"));
        assertThat(String.join("", screen.draw(100, 24))).contains("\\x1b[2Jx").doesNotContain("\u001b");
    }

    @Test
    void coloursTakeNoRoom() {
        WatchScreen coloured = new WatchScreen("ws://localhost:9092", ZoneOffset.UTC, true);
        coloured.accept(SNAPSHOT);
        screen.accept(SNAPSHOT);
        assertThat(coloured.draw(40, 24).stream().map(line -> line.replaceAll("\u001b\\[[0-9;]*m", "").stripTrailing()))
                .containsExactlyElementsOf(screen.draw(40, 24));
    }

    private List<String> rows() {
        List<String> lines = screen.draw(100, 24);
        int header = lines.indexOf(lines.stream().filter(line -> line.startsWith("rank ")).findFirst().orElseThrow());
        return lines.subList(header + 1, header + 3).stream()
                .filter(line -> !line.isBlank())
                .map(line -> line.substring(5).split(" ", 2)[0])
                .toList();
    }

    @Test
    void nothingIsWiderOrHigherThanTheScreen() {
        screen.accept(SNAPSHOT);
        assertThat(screen.draw(20, 5)).hasSize(5).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(20));
    }

    @Test
    void aLostConnectionIsSaidAndTheLastSnapshotStays() {
        screen.accept(SNAPSHOT);
        screen.disconnected("nothing listens there", Duration.ofSeconds(4));
        assertThat(screen.draw(100, 40))
                .contains("Zernel  not connected: nothing listens there; trying again in 4 s  ws://localhost:9092")
                .contains("What to fix, first what costs most");
    }

    @Test
    void beforeTheFirstSnapshotItSaysHowToStartAServer() {
        assertThat(screen.draw(100, 40)).contains("start a server: zernel serve run.parquet");
    }

    @Test
    void hardwareCountersOfAGpuAreSaidWhereThereAreAny() {
        screen.accept(SNAPSHOT.replace("\"utilization\":0.72,", "\"utilization\":0.98,\"sm_active\":0.77,"
                + "\"tensor_active\":0.22,\"dram_active\":0.46,"));
        assertThat(screen.draw(140, 40)).filteredOn(line -> line.startsWith("  GPU 0")).first().asString()
                .contains(" 98 % busy ").endsWith(" 40.0 of 80.0 GiB  SMs 77 %, tensor 22 %, DRAM 46 %");
    }

    @Test
    void beforeTheFirstEventThereIsNoEventTime() {
        screen.accept("""
                {"zernel":{"source":{"mode":"follow","path":"/recordings","speed":"1x","note":"waiting"},"event_time_ms":0.0,"events":0.0}}
                """);
        assertThat(screen.draw(100, 24).get(1)).isEqualTo("follow 1x of /recordings  0 events, 0 lost  (waiting)");
    }

    @Test
    void aPlainZerneldIsDrawnToo() {
        screen.accept("{\"gpu_utilization\":[],\"cuda_latency_p50_us\":1.0,\"last_update_ms\":1}");
        assertThat(screen.draw(100, 40)).first().asString().startsWith("Zernel  connected");
    }
}
