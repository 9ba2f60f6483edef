package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.record.process.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// Launches and the allocator of a training that is limited by them, in windows of some steps.
class DetailIT {
    private static final Path NO_TRUTH = Path.of("");

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    /// @param truth folder for what the job says of each call, or nothing
    /// @param job seconds, launches and allocations a step, and microseconds of other work
    private Recording recording(Path truth, List<String> options, String... job) {
        List<String> command = new ArrayList<>(List.of("--", Programs.standIns().resolve("stepping").toString()));
        command.addAll(List.of(job));
        Recorder recorder = recorder(options);
        if (!truth.equals(NO_TRUTH)) {
            recorder = recorder.environment("STANDIN_TRUTH", truth.toString());
        }
        Running.Outcome outcome = recorder
                .with(command.toArray(String[]::new))
                .runWell();
        assertThat(outcome.err()).anyMatch(line -> line.endsWith("0 lost, complete"));
        return Recording.open(file());
    }

    private Recorder recorder(List<String> options) {
        return Recorder.recordTo(file(), options.toArray(String[]::new)).property(Machine.BARE_METAL, "true");
    }

    @ParameterizedTest
    @CsvSource({"session", "multi"})
    void aWindowHoldsEachCallThatBeginsInIt(String backend) throws IOException {
        Path truth = Files.createDirectory(directory.resolve("truth"));
        try (Recording recording =
                recording(truth, List.of("--detail", "4/20", "--backend", backend), "8", "200", "200", "10000")) {
            JsonNode detail = recording.footer("zernel.detail");
            assertThat(detail.path("recorded").asString()).isEqualTo("windows");
            assertThat(detail.path("windows").size()).isGreaterThanOrEqualTo(6);
            long offset = recording.footer("zernel.clock").path("offset_ns").asLong();
            recording.define("CREATE TABLE truth AS SELECT kind, begin_ns + " + offset + " AS ts_ns, bytes FROM read_csv('"
                    + truth + "/*.csv', sample_size = -1)"
                    + " WHERE kind IN ('torch_alloc', 'torch_free') OR name = 'cuLaunchKernel'");
            long outside = recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch'");
            long madeOutside = recording.number("SELECT count(*) FROM truth WHERE kind = 'cuda_launch'");
            for (JsonNode window : detail.path("windows")) {
                assertThat(window.path("complete").asBoolean()).isTrue();
                String within = " WHERE ts_ns BETWEEN " + window.path("start_ns").asLong() + " AND "
                        + window.path("end_ns").asLong() + " AND kind = '";
                for (String kind : List.of("cuda_launch", "torch_alloc", "torch_free")) {
                    long recorded = recording.number("SELECT count(*) FROM events" + within + kind + "' AND coalesce(depth, 0) = 0");
                    long made = recording.number("SELECT count(*) FROM truth" + within + kind + "'");
                    // A call is written down a moment before or after its probe is hit.
                    assertThat(recorded).as(kind + " in " + window).isCloseTo(made, within(2L));
                    outside -= kind.equals("cuda_launch") ? recorded : 0;
                    madeOutside -= kind.equals("cuda_launch") ? made : 0;
                }
            }
            // Some are still recorded while the probes of a window are taken off.
            assertThat(outside).isLessThan(madeOutside / 20);
            double ended = recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch' AND dur_ns IS NOT NULL");
            long launches = recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch'");
            assertThat(ended / launches).isCloseTo(1.0 / 16, within(0.01));
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'torch_free' AND bytes <> 4096")).isZero();
        }
    }

    /// What the runtime's launches are probed for is to find the name of a kernel, as each is made by one inside it.
    @Test
    void outsideOfWindowsNoLaunchOfTheRuntimeIsLeftOver() {
        Recorder recorder = Recorder.recordTo(file(), "--detail", "2/10")
                .property(Machine.BARE_METAL, "true")
                .environment("STANDIN_NAMELESS", "1")
                .with("--", Programs.standIns().resolve("stepping").toString(), "8", "400", "1", "4000");
        assertThat(recorder.runWell().err()).anyMatch(line -> line.endsWith("0 lost, complete"));
        try (Recording recording = Recording.open(file())) {
            List<String> outside = recording.footer("zernel.detail").path("windows").valueStream()
                    .map(window -> "ts_ns NOT BETWEEN " + window.path("start_ns").asLong() + " AND "
                            + window.path("end_ns").asLong())
                    .toList();
            assertThat(outside.size()).isGreaterThan(10);
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch' AND starts_with(name, 'cuda')"
                            + " AND " + String.join(" AND ", outside)))
                    .isZero();
            assertThat(recording.footer("zernel.kinds").valueStream()
                            .filter(kind -> kind.path("kind").asString().equals("cuda_launch"))
                            .map(kind -> kind.path("covered").asLong()))
                    .singleElement()
                    .satisfies(covered -> assertThat(covered).isGreaterThan(1000));
        }
    }

    @Test
    void whatCostsMoreThanItsBudgetIsRecordedInWindows() {
        Path stepping = Programs.standIns().resolve("stepping");
        // How long the turns take is up to the machine.
        try (Running job = Running.start(stepping.toString(), "250", "2000", "2000", "5000");
                Running recorder = recorder(List.of("--overhead-budget", "0.1%", "-p", Long.toString(job.pid()))).start()) {
            recorder.awaitLine("recorded in windows");
            recorder.signal("INT");
            assertThat(recorder.await().err()).anyMatch(line -> line.endsWith("0 lost, complete"));
        }
        try (Recording recording = Recording.open(file())) {
            JsonNode detail = recording.footer("zernel.detail");
            assertThat(detail.path("asked").asString()).isEqualTo("auto");
            assertThat(detail.path("recorded").asString()).as(detail.toString()).isEqualTo("windows");
            assertThat(detail.path("budget").asDouble()).isEqualTo(0.001);
            assertThat(detail.path("why").asString()).matches("detail makes a step [0-9.]+ % longer \\(95 %: .* turns\\)");
            assertThat(detail.path("windows").valueStream().map(window -> window.path("reason").asString()))
                    .startsWith("start", "trial", "trial");
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'region'")).isGreaterThan(100);
        }
    }

    @Test
    void allOfItIsRecordedWhereThatIsAsked() {
        try (Recording recording = recording(NO_TRUTH, List.of("--detail", "all"), "2", "100", "100", "10000")) {
            JsonNode detail = recording.footer("zernel.detail");
            assertThat(detail.path("windows").isNull()).isTrue();
            assertThat(detail.path("why").asString()).isEqualTo("as asked");
            long steps = recording.number("SELECT count(*) FROM events WHERE kind = 'region'");
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch' AND depth = 0"))
                    .isBetween(100 * steps, 100 * steps + 100);
        }
    }
}
