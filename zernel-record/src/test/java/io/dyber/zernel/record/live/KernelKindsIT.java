package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.builtin.Origin;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The kinds that BPF objects see in the kernel: each is attached because programs of it are, and for no other reason.
class KernelKindsIT {
    private static final String PROCESS = "process";

    @TempDir
    private static Path directory = Path.of("");

    /// How many programs are attached when no kind is wanted that they see.
    private static int alone;

    @BeforeAll
    static void record() {
        Needs.bpf();
        alone = record(directory.resolve("alone.parquet"), "lost");
    }

    static Stream<String> kinds() {
        return Probes.all().stream()
                .filter(probe -> probe.origin() instanceof Origin.Kernel)
                .map(Probe::kind);
    }

    static Stream<String> kindsBesideProcess() {
        return kinds().filter(kind -> !kind.equals(PROCESS));
    }

    /// Records with one kind only.
    ///
    /// @return how many programs the recorder had attached meanwhile
    private static int record(Path file, String kind) {
        try (Running target = Running.start("sleep", "60");
                Running recorder = Recorder.recordTo(file, "--kinds", kind, "-p", Long.toString(target.pid()))
                        .startRecording()) {
            int links = links(recorder.pid());
            recorder.signal("INT");
            assertThat(recorder.await().status()).isZero();
            return links;
        }
    }

    private static int links(long pid) {
        try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return (int) files.filter(KernelKindsIT::isLink).count();
        } catch (IOException e) {
            throw new AssertionError("looking at process " + pid + ": " + e.getMessage(), e);
        }
    }

    private static boolean isLink(Path file) {
        try {
            return Files.readSymbolicLink(file).toString().matches("anon_inode:\\[?bpf[-_]link]?");
        } catch (IOException _) {
            return false; // closed meanwhile
        }
    }

    private static Map<String, String> states(Path file) {
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.footer("zernel.recording").path("incomplete_because").valueStream()).isEmpty();
            Map<String, String> states = new TreeMap<>();
            recording.footer("zernel.kinds").valueStream().forEach(kind -> states.put(
                    kind.path("kind").asString(),
                    (kind.path("state").asString() + " " + kind.path("why").asString()).strip()));
            states.keySet().retainAll(kinds().toList());
            return states;
        }
    }

    private static Map<String, String> only(String... attached) {
        Map<String, String> states = new TreeMap<>();
        kinds().forEach(kind -> states.put(kind, "off left out by --kinds"));
        Stream.of(attached).forEach(kind -> states.put(kind, "attached"));
        return states;
    }

    @Test
    void processesAreWatchedWhateverElseIsWanted() {
        assertThat(alone).isPositive();
        assertThat(states(directory.resolve("alone.parquet"))).isEqualTo(only(PROCESS));
    }

    @ParameterizedTest
    @MethodSource("kindsBesideProcess")
    void aKindIsAttachedByPrograms(String kind) {
        Path file = directory.resolve(kind + ".parquet");
        assertThat(record(file, kind)).isGreaterThan(alone);
        assertThat(states(file)).isEqualTo(only(PROCESS, kind));
    }
}
