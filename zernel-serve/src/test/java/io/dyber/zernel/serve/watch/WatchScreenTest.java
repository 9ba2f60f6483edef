package io.dyber.zernel.serve.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

final class WatchScreenTest {
    private static final String SNAPSHOT = """
            {"gpu_utilization":[{"key":"4242:0","current_bytes":3221225472,"peak_bytes":4294967296}],
             "cuda_latency_p50_us":0.0,"cuda_latency_p99_us":0.0,"nccl_allreduce_p50_ms":0.0,
             "nccl_allreduce_p99_ms":0.0,"dataloader_wait_p50_ms":30.0,"last_update_ms":1700000000000,
             "zernel":{"version":1,
              "source":{"mode":"replay","path":"run.parquet","speed":"10x","ended":false,"note":"round 2"},
              "event_time_ms":1700000000000.0,"measured":{"dataloader_wait":"pid 4242"},"events":1234567.0,"lost":3.0,
              "processes":[{"pid":"4242","comm":"python3","steps":50.0,
                "step":{"metric":"zernel_step_seconds","labels":{"pid":"4242"},"count":50,"sum_seconds":5.0,
                        "p50_ms":100.0,"p99_ms":120.0},
                "phases":{"data_loading":0.3,"gpu_compute":0.5,"unknown":0.2}}],
              "timings":[{"metric":"zernel_io_seconds","labels":{"pid":"4243"},"count":9000,"sum_seconds":1.0,
                          "p50_ms":0.2,"p99_ms":null}]}}
            """;

    private final WatchScreen screen = new WatchScreen("ws://localhost:9092", ZoneOffset.UTC);

    @Test
    void aSnapshotIsDrawn() {
        screen.accept(SNAPSHOT);
        screen.accept(SNAPSHOT.replace("\"p50_ms\":100.0", "\"p50_ms\":50.0"));
        assertThat(String.join("\n", screen.draw(100, 40))).isEqualTo("""
                Zernel  connected  ws://localhost:9092
                replay 10x of run.parquet  22:13:20  1,234,567 events, 3 lost  (round 2)

                pid 4242 python3  50 steps  step p50 50.0 ms  p99 120.0 ms  █▅
                  data_loading     █████████░░░░░░░░░░░░░░░░░░░░░  30 %
                  gpu_compute      ███████████████░░░░░░░░░░░░░░░  50 %
                  unknown          ██████░░░░░░░░░░░░░░░░░░░░░░░░  20 %

                GPU memory (pid:device), of its peak
                  4242:0           ███████████████████████░░░░░░░ 3.00 of 4.00 GiB

                timings of the last minute                  count         p50         p99
                  io 4243                                   9,000      200 us           -""");
    }

    @Test
    void nothingIsWiderOrHigherThanTheScreen() {
        screen.accept(SNAPSHOT);
        assertThat(screen.draw(20, 5)).hasSize(5).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(20));
    }

    @Test
    void aLostConnectionIsSaidAndTheLastSnapshotStays() {
        screen.accept(SNAPSHOT);
        screen.disconnected("nobody listens there", Duration.ofSeconds(4));
        assertThat(screen.draw(100, 40))
                .contains("Zernel  not connected: nobody listens there; trying again in 4 s  ws://localhost:9092")
                .contains("GPU memory (pid:device), of its peak");
    }

    @Test
    void beforeTheFirstSnapshotItSaysHowToStartAServer() {
        assertThat(screen.draw(100, 40)).contains("start a server: zernel serve run.parquet");
    }

    @Test
    void aPlainZerneldIsDrawnToo() {
        screen.accept("{\"gpu_utilization\":[],\"cuda_latency_p50_us\":1.0,\"last_update_ms\":1}");
        assertThat(screen.draw(100, 40)).first().asString().startsWith("Zernel  connected");
    }
}
