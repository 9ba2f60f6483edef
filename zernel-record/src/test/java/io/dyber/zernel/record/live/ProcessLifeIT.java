package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The life of a program whose threads and children are known.
class ProcessLifeIT {
    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    @Test
    void threadsChildrenProgramsNamesAndEndsAreRecordedInOrder() {
        Path file = directory.resolve("run.parquet");
        Running.Outcome outcome = Recorder.recordTo(
                        file, "--kinds", "process", "--", Programs.built("life").toString())
                .run();
        assertThat(outcome.status()).isEqualTo(3);
        JsonNode truth = Truth.of(outcome.out()).only();

        try (Recording recording = Recording.open(file)) {
            String who = "(VALUES (%d, 'life'), (%d, 'first'), (%d, 'second'), (%d, 'executed'), (%d, 'seven'), (%d, 'killed'))"
                    .formatted(
                            truth.path("pid").asLong(),
                            truth.path("threads").path(0).asLong(),
                            truth.path("threads").path(1).asLong(),
                            truth.path("executed").asLong(),
                            truth.path("seven").asLong(),
                            truth.path("killed").asLong());
            assertThat(recording.rows("""
                    SELECT coalesce(who.title, 'other'), name, coalesce(child.title, 'other'), status, comm
                    FROM events
                    LEFT JOIN %s AS who(id, title) ON who.id = tid
                    LEFT JOIN %s AS child(id, title) ON child.id = child_tid
                    WHERE kind = 'process' AND ts_ns >=
                        (SELECT max(ts_ns) FROM events WHERE name = 'exec' AND path LIKE '%%/life') ORDER BY ts_ns
                    """.formatted(who, who))).containsExactly(
                    "life exec other null life",
                    "life rename other null z-life",
                    "life thread first null z-life",
                    "first rename other null z-worker",
                    "life thread second null z-life",
                    "second rename other null z-worker",
                    "life fork executed null z-life",
                    "executed rename other null true",
                    "executed exec other null true",
                    "executed exit other 0 true",
                    "life fork seven null z-life",
                    "seven thread other null z-life",
                    "other rename other null z-worker",
                    "seven exit other 7 z-life",
                    "life fork killed null z-life",
                    "killed exit other 137 z-life",
                    "life exit other 3 z-life");
        }
    }
}
