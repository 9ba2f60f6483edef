package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What footers say of threads, and when it counts.
class ThreadKindsTest {
    private static final String SAID = "[{\"pid\":%d,\"tid\":1,\"comm\":\"as said\",\"kind\":\"region\",\"events\":%d,"
            + "\"first_ns\":5,\"last_ns\":7}]";
    private static final String QUERY = "SELECT comm, kind, events FROM _thread_kinds ORDER BY ALL";

    @TempDir
    private Path folder = Path.of("");

    @Test
    void aFooterThatCountsEveryRowIsBelieved() {
        assertThat(threads(recording().region(NEXT, 0, 1).region(NEXT, 2, 1).footer("zernel.threads", SAID.formatted(1, 2))))
                .isEqualTo("comm\tkind\tevents\nas said\tregion\t2");
    }

    @Test
    void aFooterThatCountsOtherRowsIsNot() {
        assertThat(threads(recording().region(NEXT, 0, 1).region(NEXT, 2, 1).footer("zernel.threads", SAID.formatted(1, 3))))
                .isEqualTo("comm\tkind\tevents\npython3\tregion\t2");
    }

    @Test
    void whatIsNoListOfThreadsIsNotBelieved() {
        for (String json : new String[] {"[]", "7", "null", "{}", "[7]", "[null]", "[{\"events\":\"two\"}]", "[{}]"}) {
            assertThat(threads(recording().region(NEXT, 0, 1).footer("zernel.threads", json)))
                    .as(json)
                    .isEqualTo("comm\tkind\tevents\npython3\tregion\t1");
        }
    }

    @Test
    void filesWithAndWithoutCountsAreOneList() {
        Path counted = recording()
                .region(NEXT, 0, 1)
                .footer("zernel.threads", SAID.formatted(1, 1))
                .write(folder.resolve("counted.parquet"));
        Path older = recording().region(NEXT, 0, 1).io(2, 1, 70).write(folder.resolve("older.parquet"));
        try (Database database = Recordings.open(counted.toString(), older.toString())) {
            assertThat(database.query("SELECT recording, comm, kind, events FROM _thread_kinds ORDER BY ALL").toString())
                    .isEqualTo("recording\tcomm\tkind\tevents\n"
                            + "0\tas said\tregion\t1\n1\tpython3\tio\t1\n1\tpython3\tregion\t1");
        }
    }

    @Test
    void whatATraceAddsIsCounted() {
        Path run = recording()
                .training(6, 15)
                .launch("a", 20, 0.1)
                .launch("b", 120, 0.1)
                .footer("zernel.threads", SAID.formatted(1, 22))
                .write(folder.resolve("run.parquet"));
        Path trace = TraceFixture.trace(100)
                .kernel("a", 7, 20, 21, 30)
                .kernel("b", 7, 120, 121, 30)
                .write(folder.resolve("trace.json"));
        try (Database one = Recordings.open(run.toString());
                Database both = Recordings.open(run.toString(), trace.toString())) {
            assertThat(one.query("SELECT sum(events) AS n FROM _thread_kinds WHERE comm = 'as said'").only().integer("n"))
                    .isEqualTo(22);
            assertThat(both.query("SELECT sum(events) AS n FROM _thread_kinds WHERE kind = 'gpu_kernel'")
                            .only()
                            .integer("n"))
                    .isEqualTo(2);
            assertThat(both.recordings().getFirst().metadata()).doesNotContainKey("zernel.threads");
        }
    }

    private String threads(RecordingFixture fixture) {
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            return database.query(QUERY).toString();
        }
    }
}
