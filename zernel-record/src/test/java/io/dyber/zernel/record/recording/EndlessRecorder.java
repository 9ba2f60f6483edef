package io.dyber.zernel.record.recording;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/// A recorder that writes numbered events until it is killed. Says on stdout after each batch how many are safe.
final class EndlessRecorder {
    private EndlessRecorder() {}

    /// Writes to the path given as the only argument.
    public static void main(String[] args) {
        StringDictionary texts = new StringDictionary();
        Batch batch = new Batch(Events.COLUMNS, 1000);
        RecordingFile.Options options = new RecordingFile.Options(20_000, Optional.empty());
        try (RecordingFile file = RecordingFile.create(Path.of(args[0]), Events.COLUMNS, texts, options)) {
            file.describe(Map.of("zernel.recording", "{\"host\":\"here\",\"incomplete_because\":[]}"));
            for (long number = 0; ; number++) {
                String path = "path " + number / 100;
                Events.add(batch, texts, "io", "read", number * 10, number % 7, number % 13, number, path);
                if (batch.isFull()) {
                    file.write(batch);
                    batch.clear();
                    System.out.println(number + 1);
                }
            }
        }
    }
}
