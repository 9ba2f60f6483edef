package io.dyber.zernel.analyze.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.recording.Digests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Digests of a recording while it is being written.
@Timeout(300)
class FollowedDigestsTest {
    @TempDir
    Path folder;

    /// A recording of 20 steps, as a recorder leaves it while it writes. Its times are ahead of the clock, so in any window.
    private Path written() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        RecordingFixture fixture = RecordingFixture.recording();
        for (int step = 0; step < 20; step++) {
            fixture.region(RecordingFixture.NEXT, step * 40, 1).backward(step * 40 + 5, 20).region(RecordingFixture.STEP, step * 40 + 38, 2);
        }
        fixture.write(live.resolve("000000.parquet"));
        Files.writeString(live.resolve("meta.json"),
                "{\"zernel.format\":1,\"zernel.recording\":{\"host\":\"box\",\"recorder_pid\":7,\"started_ns\":1,\"ended_ns\":0}}");
        return live;
    }

    @Test
    void theLastSecondsAreDigestedUntilTheRecordingEnds() throws Exception {
        Path live = written();
        Path digests = folder.resolve("digests");
        Thread ends = Thread.ofPlatform().start(() -> {
            try {
                while (!Files.exists(digests.resolve("box.run.digest.parquet"))) {
                    Thread.sleep(20);
                }
                Files.move(live, folder.resolve("moved"));
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        Outcome outcome = Outcome.of("digest", "--follow", folder.resolve("run.parquet").toString(), "-o", digests.toString(), "--every", "1s");
        ends.join();
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.err()).contains("box.run.digest.parquet: ", " of 60 events, ", "the recording has ended: wrote ");
        Path digest = digests.resolve("box.run.digest.parquet");
        try (Database database = Recordings.open(digest.toString())) {
            assertThat(database.query("SELECT count(*) AS n FROM steps").only().integer("n")).isPositive();
            assertThat(database.query("SELECT complete FROM recordings").only().flag("complete")).isTrue();
        }
        try (Stream<Path> left = Files.list(digests)) {
            assertThat(left).containsExactly(digest);
        }
        List<Digests.Unread> unread = new ArrayList<>();
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            Digests.Header header = Digests.headers(List.of(digest, live.resolveSibling("moved/000000.parquet")), duckDb, unread).getFirst();
            assertThat(header.host()).isEqualTo("box");
            assertThat(header.recorder()).isEqualTo("pid 7");
            assertThat(header.endedNanos() - header.startedNanos()).isEqualTo(30_000_000_000L);
        }
        assertThat(unread).extracting(Digests.Unread::state).containsExactly("foreign");
    }

    @Test
    void aFinishedRecordingCannotBeFollowed() {
        Path file = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        Outcome outcome = Outcome.of("digest", "--follow", file.toString(), "-o", folder.toString());
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err()).startsWith("zernel-analyze: following '" + file + "': it is not being written");
    }

    @Test
    void whatMakesNoSenseIsSaid() {
        assertThat(Outcome.of("digest", "--follow", "run.parquet").err()).contains("--follow needs -o DIR or --push URL");
        assertThat(Outcome.of("digest", "run.parquet", "--every", "5s").err()).contains("need --follow");
        assertThat(Outcome.of("digest", "--follow", "run.parquet", "-o", "d", "--every", "0s").err()).contains("--every is a time from 1s to 1h");
        assertThat(Outcome.of("digest", "--follow", "run.parquet", "-o", "d", "--last", "5s").err()).contains("--last must be at least --every");
        assertThat(Outcome.of("digest", "--follow", "run.parquet", "--push", "head:9091").err()).contains("--push takes an URL");
        assertThat(Outcome.of("digest", "--follow", "a", "b", "-o", "d").err()).contains("--follow takes one recording or folder");
    }
}
