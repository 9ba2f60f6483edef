package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class InSpansTest {
    @TempDir
    Path folder;

    @Test
    void aPointLiesInTheSpanOfItsProcessFromItsBeginToBeforeItsEnd() {
        assertThat(found("(0, 1, 100, 'before'), (0, 1, 200, 'first'), (0, 1, 299, 'last'), (0, 1, 300, 'next'), (0, 1, 400, 'after')",
                        "(0, 1, 200, 300, 'a'), (0, 1, 300, 400, 'b'), (0, 1, 500, 500, 'empty')"))
                .containsExactly("a first", "a last", "b next");
        assertThat(found("(0, 1, 250, 'own'), (0, 2, 250, 'of another process'), (1, 1, 250, 'of another recording')",
                        "(0, 1, 200, 300, 'a')"))
                .containsExactly("a own");
    }

    @Test
    void spansMayBeOfAnyLengthAndOverlap() {
        assertThat(found("(0, 1, 0, 'begin'), (0, 1, 59999999999, 'end'), (0, 1, 30000000000, 'middle')",
                        "(0, 1, 0, 60000000000, 'long'), (0, 1, 30000000000, 30000000001, 'short')"))
                .containsExactly("long begin", "long end", "long middle", "short middle");
    }

    @Test
    void withoutSpansThereIsNoRow() {
        assertThat(found("(0, 1, 5, 'alone')", "(0, 1, 9, 9, 'empty')")).isEmpty();
    }

    private List<String> found(String points, String spans) {
        Path file = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query("WITH points AS (FROM (VALUES " + points + ") AS p (recording, pid, at_ns, point)), "
                            + "spans AS (FROM (VALUES " + spans + ") AS s (recording, pid, from_ns, until_ns, span)) "
                            + "SELECT span || ' ' || point AS found FROM in_spans(points, spans) ORDER BY found")
                    .texts("found");
        }
    }
}
