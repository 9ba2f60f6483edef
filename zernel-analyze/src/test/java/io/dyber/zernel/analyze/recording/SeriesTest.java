package io.dyber.zernel.analyze.recording;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.format.Footer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The files that `--rotate` writes, opened together.
class SeriesTest {
    @TempDir
    Path folder;

    @Test
    void filesOfARotatingRecordingAreOneRecording() {
        part(1, 0, 500).region(NEXT, 0, 15).backward(25, 20).region(STEP, 45, 5).write(folder.resolve("run-1.parquet"));
        part(2, 500, 900).region(NEXT, 50, 15).backward(75, 20).region(STEP, 95, 5).write(folder.resolve("run-2.parquet"));

        try (Database database = Recordings.open(folder + "/run-*.parquet")) {
            assertThat(database.recordings()).singleElement().satisfies(whole -> {
                assertThat(whole.path()).isEqualTo(folder.resolve("run-1.parquet"));
                assertThat(whole.rows()).isEqualTo(6);
                assertThat(whole.note()).isEqualTo("2 parts, the last is " + folder.resolve("run-2.parquet"));
                assertThat(whole.incompleteBecause()).isEmpty();
                Footer.About about = whole.footer().recording();
                assertThat(about.startedNs()).isEqualTo(1_000);
                assertThat(about.endedNs()).isEqualTo(1_900);
                assertThat(about.events()).isEqualTo(20);
            });
            assertThat(database.query("SELECT steps, step_p50_ns FROM training_threads").toString())
                    .isEqualTo("steps\tstep_p50_ns\n2\t50000000");
        }
    }

    @Test
    void countersOfThePartsAddUp() {
        String probe = """
                [{"kind":"call","name":"f","library":"/l.so","build_id":"x","symbol":"f","site":16,"cost":"emulated",
                "state":"attached","why":"","entries":%d,"returns":%d,"events":%d,"lost":%d,"filtered":0,"no_return":0}]
                """;
        part(1, 0, 500)
                .footer("zernel.probes", probe.formatted(10, 10, 9, 1))
                .footer("zernel.losses", "{\"rings\":[],\"by_kind\":{\"call\":1},\"total\":1,\"ends\":0}")
                .write(folder.resolve("run-1.parquet"));
        part(2, 500, 900)
                .footer("zernel.probes", probe.formatted(5, 4, 3, 2))
                .footer("zernel.losses", "{\"rings\":[],\"by_kind\":{\"call\":2,\"io\":3},\"total\":5,\"ends\":0}")
                .write(folder.resolve("run-2.parquet"));

        try (Database database = Recordings.open(folder + "/run-*.parquet")) {
            Footer footer = database.recordings().getFirst().footer();
            assertThat(footer.probes()).singleElement().satisfies(sum -> {
                assertThat(sum.entries()).isEqualTo(15);
                assertThat(sum.returns()).isEqualTo(14);
                assertThat(sum.events()).isEqualTo(12);
                assertThat(sum.lost()).isEqualTo(3);
            });
            assertThat(footer.losses().total()).isEqualTo(6);
            assertThat(footer.losses().byKind()).isEqualTo(Map.of("call", 3L, "io", 3L));
            assertThat(footer.kinds()).singleElement().satisfies(kind -> assertThat(kind.events()).isEqualTo(20));
        }
    }

    @Test
    void threadsOfThePartsAddUpWhereEachPartCountsThem() {
        String threads = "[{\"pid\":1,\"tid\":1,\"comm\":\"as said\",\"kind\":\"io\",\"events\":1,\"first_ns\":%d,"
                + "\"last_ns\":%d}]";
        Path first = folder.resolve("run-1.parquet");
        Path second = folder.resolve("run-2.parquet");
        String query = "SELECT comm, kind, events, first_ns, last_ns FROM _thread_kinds";
        part(1, 0, 500).io(0, 1, 70).footer("zernel.threads", threads.formatted(3, 5)).write(first);
        part(2, 500, 900).io(2, 1, 70).footer("zernel.threads", threads.formatted(4, 9)).write(second);
        try (Database database = Recordings.open(folder + "/run-*.parquet")) {
            assertThat(database.query(query).toString())
                    .isEqualTo("comm\tkind\tevents\tfirst_ns\tlast_ns\nas said\tio\t2\t3\t9");
        }

        part(2, 500, 900).io(2, 1, 70).write(second);
        try (Database database = Recordings.open(folder + "/run-*.parquet")) {
            assertThat(database.query("SELECT comm, kind, events FROM _thread_kinds").toString())
                    .isEqualTo("comm\tkind\tevents\npython3\tio\t2");
        }
    }

    @Test
    void aMissingPartIsSaid() {
        part(1, 0, 500).io(0, 1, 1).write(folder.resolve("run-1.parquet"));
        part(3, 900, 1200).io(9, 1, 1).write(folder.resolve("run-3.parquet"));

        try (Database database = Recordings.open(folder + "/run-*.parquet")) {
            assertThat(database.recordings().getFirst().incompleteBecause())
                    .containsExactly("files between %1$s/run-1.parquet and %1$s/run-3.parquet are missing".formatted(folder));
        }
    }

    @Test
    void filesThatOverlapStayApart() {
        part(3, 0, 500).io(0, 1, 1).write(folder.resolve("run-1.parquet"));
        part(5, 200, 700).io(0, 1, 1).write(folder.resolve("run-2.parquet"));
        part(6, 700, 900).io(0, 1, 1).write(folder.resolve("run-3.parquet"));

        try (Database database = Recordings.open(folder + "/run-*.parquet")) {
            assertThat(database.recordings()).extracting(Recording::index).isEqualTo(List.of(0, 1, 2));
        }
        try (Database database =
                Recordings.open(folder + "/run-1.parquet", folder + "/run-3.parquet")) {
            assertThat(database.recordings()).hasSize(1);
        }
    }

    /// Times are nanoseconds after an arbitrary start.
    private static RecordingFixture part(int number, long began, long ended) {
        return recording().footer("zernel.recording", """
                {"version":"0.1.0","simulated":false,"started_ns":%d,"ended_ns":%d,"stop":"rotated","complete":true,
                "incomplete_because":[],"events":10,"series":{"id":"a-b-c","part":%d,"started_ns":1000}}
                """.formatted(1000 + began, 1000 + ended, number));
    }
}
