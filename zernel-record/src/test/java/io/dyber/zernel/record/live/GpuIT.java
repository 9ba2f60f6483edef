package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.nvml.StandIn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// GPUs in a recording, from a stand-in for the driver's library that is found as the true one is, by its soname.
class GpuIT {
    private static final String GPU_ROWS = """
            SELECT concat_ws(' ', device, coalesce(pid, 0), name, value, unit, object) FROM events
            WHERE kind IN ('gpu_sample', 'gpu_process')
            """;

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    @Test
    void everyNumberTheDriverGivesIsARow() throws IOException, InterruptedException {
        StandIn library = StandIn.compiled(directory);
        Recorder.recordTo(file(), "--gpu-interval", "50ms", "--", "sleep", "1")
                .environment("LD_LIBRARY_PATH", directory.toString())
                .runWell();
        List<String> told = library.told();
        assertThat(told).hasSizeGreaterThan(1_000);
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.rows(GPU_ROWS)).containsExactlyInAnyOrderElementsOf(told);
            assertThat(recording.rows("SELECT DISTINCT comm FROM events WHERE kind = 'gpu_process' AND pid = 1"))
                    .containsExactly(comm());
            assertThat(recording.rows("""
                    SELECT bool_and(dur_ns IS NULL AND tid IS NULL AND cpu IS NULL),
                        bool_and(ts_ns BETWEEN %s AND %s)
                    FROM events WHERE kind IN ('gpu_sample', 'gpu_process')
                    """.formatted(
                    recording.footer("zernel.recording").path("started_ns").asLong(),
                    recording.footer("zernel.recording").path("ended_ns").asLong())))
                    .containsExactly("true true");
            assertDescribed(recording, told);
        }
    }

    private static String comm() throws IOException {
        return Files.readString(Path.of("/proc/1/comm")).strip();
    }

    private static void assertDescribed(Recording recording, List<String> told) {
        JsonNode gpus = recording.footer("zernel.gpus");
        assertThat(gpus.path("driver").asString()).isEqualTo("570.00.77");
        assertThat(gpus.path("interval_ns").asLong()).isEqualTo(50_000_000);
        assertThat(gpus.path("rounds").asLong())
                .isEqualTo(told.stream().filter(row -> row.startsWith("0 0 utilization ")).count());
        JsonNode second = gpus.path("devices").path(1);
        assertThat(second.path("index").asInt()).isEqualTo(1);
        assertThat(second.path("name").asString()).isEqualTo("Stand-in B100");
        assertThat(second.path("uuid").asString()).isEqualTo("GPU-00000000-0000-0000-0000-000000000001");
        assertThat(second.path("pci").asString()).isEqualTo("00000000:3C:00.0");
        assertThat(second.path("memory_total").asLong()).isEqualTo(80L << 30);
        assertThat(second.has("pcie_generation")).isFalse();
        assertThat(gpus.path("devices").path(0).path("pcie_generation").asInt()).isEqualTo(4);
        assertThat(gpus.path("devices").path(0).path("pcie_width").asInt()).isEqualTo(16);
        assertThat(second.path("missing").valueStream().map(JsonNode::toString)).containsExactlyInAnyOrder(
                "{\"kind\":\"gpu_sample\",\"name\":\"fp16_active\",\"why\":\"invalid argument\",\"times\":1}",
                "{\"kind\":\"gpu_sample\",\"name\":\"fp64_active\",\"why\":\"an impossible value\",\"times\":1}",
                "{\"kind\":\"gpu_sample\",\"name\":\"fan\",\"why\":\"not supported by this GPU\",\"times\":1}",
                "{\"kind\":\"gpu_sample\",\"name\":\"power\",\"why\":\"NVML error 999\",\"times\":1}");
        assertThat(kinds(recording)).contains(
                "gpu_sample attached " + recording.number("SELECT count(*) FROM events WHERE kind = 'gpu_sample'"),
                "gpu_process attached " + recording.number("SELECT count(*) FROM events WHERE kind = 'gpu_process'"));
    }

    private static List<String> kinds(Recording recording) {
        return recording.footer("zernel.kinds").valueStream()
                .map(kind -> kind.path("kind").asString() + " " + kind.path("state").asString() + " "
                        + kind.path("events").asLong())
                .toList();
    }

    @Test
    void eachInstanceOfAPartedGpuHasItsCounters() throws IOException, InterruptedException {
        StandIn library = StandIn.compiled(directory, "-DMIG");
        Running.Outcome outcome = Recorder.recordTo(file(), "--gpu-interval", "200ms", "--", "sleep", "1")
                .property("zernel.libnvml", library.library().toString())
                .runWell();
        assertThat(outcome.err()).contains("zernel-record: GPU 1 gave no fp16_active: invalid argument");
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.rows(GPU_ROWS)).containsExactlyInAnyOrderElementsOf(library.told());
            assertThat(recording.rows("SELECT DISTINCT object FROM events WHERE name = 'sm_active' ORDER BY ALL"))
                    .containsExactly("1", "2", "null");
        }
    }

    @Test
    void aLostGpuIsSaidAndTheRecordingGoesOn() throws IOException, InterruptedException {
        StandIn library = StandIn.compiled(directory, "-DLOSES_GPU");
        Running.Outcome outcome = Recorder.recordTo(file(), "--gpu-interval", "20ms", "--", "sleep", "1")
                .property("zernel.libnvml", library.library().toString())
                .runWell();
        assertThat(outcome.err()).contains("zernel-record: GPU 1 does not answer any more: the GPU has fallen off the bus");
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.rows(GPU_ROWS)).containsExactlyInAnyOrderElementsOf(library.told());
            JsonNode devices = recording.footer("zernel.gpus").path("devices");
            assertThat(devices.path(0).path("lost_ns").isNull()).isTrue();
            assertThat(devices.path(1).path("lost_ns").asLong())
                    .isGreaterThanOrEqualTo(recording.number("""
                            SELECT max(ts_ns) FROM events WHERE device = 1 AND kind IN ('gpu_sample', 'gpu_process')
                            """));
        }
    }

    @Test
    void aMachineWithoutAGpuIsNoError() {
        Running.Outcome outcome = Recorder.recordTo(file(), "--", "sleep", "0.3")
                .property("zernel.libnvml", "libno-such-driver.so.1")
                .runWell();
        assertThat(outcome.err()).noneMatch(line -> line.contains("GPU") || line.contains("libno-such-driver"));
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
            assertThat(recording.footer("zernel.gpus").path("why").asString())
                    .isEqualTo("no NVIDIA driver: there is no libno-such-driver.so.1");
            assertThat(kinds(recording)).contains("gpu_sample unavailable 0", "gpu_process unavailable 0");
        }
    }

    @Test
    void theDoctorSaysWhichGpusThereAre() throws IOException, InterruptedException {
        assertThat(doctor(StandIn.compiled(directory)))
                .contains("ok   gpus       2 GPUs: 1 x Stand-in A100, 1 x Stand-in B100, driver 570.00.77")
                .contains("no   gpm        no hardware counters of 1 GPU: Stand-in A100: not supported by this GPU; "
                        + "Hopper and newer have them");
        assertThat(doctor(StandIn.compiled(directory, "-DSHOWS=1")))
                .contains("ok   gpus       1 GPU: Stand-in A100, driver 570.00.77");
        assertThat(doctor(StandIn.compiled(directory, "-DALIKE")))
                .contains("ok   gpus       2 GPUs: 2 x Stand-in A100, driver 570.00.77");
        assertThat(doctor(StandIn.compiled(directory, "-DOLD_DRIVER", "-DALIKE")))
                .contains("no   gpm        no hardware counters of 2 GPUs: 2 x Stand-in A100: not known to this driver; "
                        + "Hopper and newer have them");
        assertThat(doctor(StandIn.compiled(directory, "-DEVERY_GPM")))
                .contains("ok   gpm        hardware counters of SMs, tensor cores, memory and links are read");
        assertThat(Recorder.zernelRecord("doctor").property("zernel.libnvml", "libno-such-driver.so.1").runWell().out())
                .contains("no   gpus       no NVIDIA driver: there is no libno-such-driver.so.1; "
                        + "gpu_sample and gpu_process stay empty");
    }

    private static List<String> doctor(StandIn library) {
        return Recorder.zernelRecord("doctor")
                .property("zernel.libnvml", library.library().toString())
                .runWell()
                .out();
    }

    @Test
    void withoutAnIntervalNobodyAsks() throws IOException, InterruptedException {
        StandIn library = StandIn.compiled(directory);
        for (String off : List.of("off", "0")) {
            Recorder.recordTo(file(), "--gpu-interval", off, "--", "sleep", "0.1")
                    .property("zernel.libnvml", library.library().toString())
                    .runWell();
            try (Recording recording = Recording.open(file())) {
                assertThat(kinds(recording)).contains("gpu_sample off 0", "gpu_process off 0");
            }
        }
        assertThat(directory.resolve("nvml.log")).doesNotExist();
    }
}
