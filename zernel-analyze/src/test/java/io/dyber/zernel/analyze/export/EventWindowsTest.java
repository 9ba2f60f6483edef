package io.dyber.zernel.analyze.export;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventWindowsTest {
    @TempDir
    Path folder;

    @Test
    void eachEventIsInOneWindowAndThoseOfAThreadAreInOrder() throws IOException {
        RecordingFixture fixture = recording().region("around", 0, 500);
        for (int i = 0; i < 100; i++) {
            fixture.io(499 - 5 * i, 1, i);
        }
        for (long eventsPerWindow : List.of(1L, 7L, 1000L)) {
            List<String> starts = starts(fixture, eventsPerWindow, null, null);
            assertThat(starts).hasSize(101).startsWith("around 0", "read 4", "read 9", "read 14").endsWith("read 499");
        }
    }

    @Test
    void whatReachesIntoTheSelectionComesFirst() throws IOException {
        RecordingFixture fixture = recording().region("around", 0, 500).region("before", 1, 2).region("across", 90, 20)
                .region("within", 120, 1).region("after", 200, 1);
        assertThat(starts(fixture, 1, 0.1, 0.2)).containsExactly("around 0", "across 90", "within 120");
    }

    private List<String> starts(RecordingFixture fixture, long eventsPerWindow, @Nullable Double from,
            @Nullable Double to) throws IOException {
        List<String> starts = new ArrayList<>();
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            Selection selection = Selection.of(database, List.of(), List.of(), from, to);
            long events = new EventWindows(database, selection, eventsPerWindow).forEach((_, _, _, slice) ->
                    starts.add(slice.name() + " " + (slice.start() - RecordingFixture.START_NS) / 1_000_000));
            assertThat(events).isEqualTo(starts.size());
        }
        return starts;
    }
}
