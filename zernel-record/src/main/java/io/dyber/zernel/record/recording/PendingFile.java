package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.FooterFile;
import io.dyber.zernel.record.recording.Segments.FooterOf;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Segments that become a file of their own, as `part-000017.json` in the `.live` folder notes them until that is done.
///
/// @param file its name, beside the output
/// @param from first segment in it
/// @param to first segment behind it
/// @param moved whether the segments are then in that file only
/// @param events in them
record PendingFile(String file, int from, int to, boolean moved, long events, Map<String, String> footer) {
    private static final String KEY = "part";
    private static final String NOTE = "part-\\d{6,9}\\.json";
    private static final int MOST_SEGMENTS = 1_000_000;
    private static final JsonMapper JSON = JsonMapper.shared();

    static boolean isNote(String name) {
        return name.matches(NOTE);
    }

    /// Reads a note. Throws when it is none: nothing but a recorder writes in its folder.
    static PendingFile ofNote(byte[] content) throws IOException {
        Map<String, String> footer = new LinkedHashMap<>(RecoveredFooter.known(content));
        String part = footer.remove(KEY);
        JsonNode note = JSON.readTree(part == null ? "{}" : part);
        if (!note.path("file").isString() || !note.path("from").isInt() || !note.path("to").isInt()) {
            throw new IOException("a part's note is not whole");
        }
        int parts = note.path("to").asInt() - note.path("from").asInt();
        if (note.path("from").asInt() < 0 || parts < 0 || parts > MOST_SEGMENTS) {
            throw new IOException("a part's note names segments that cannot be");
        }
        return new PendingFile(
                note.path("file").asString(),
                note.path("from").asInt(),
                note.path("to").asInt(),
                note.path("moved").asBoolean(false),
                note.path("events").asLong(0),
                footer);
    }

    /// Writes the note down, so that what is asked for here is done after a crash too.
    void note(ClaimedFolder folder) throws IOException {
        Map<String, String> content = new LinkedHashMap<>(footer);
        content.put(KEY, JSON.writeValueAsString(
                Map.of("file", file, "from", from, "to", to, "moved", moved, "events", events)));
        folder.replace(noteName(), FooterFile.write(content));
    }

    private String noteName() {
        return "part-%06d.json".formatted(to);
    }

    /// Makes the file if it is not there, and deletes what is not needed any more. May be called again after an
    /// exception or a crash: the file appears as a whole, and its name was free.
    void publish(ClaimedFolder folder, FooterOf footerOf) throws IOException {
        if (folder.parent().attributes(file).isEmpty()) {
            Segments.Published _ = Segments.join(folder, Segments.names(folder, from, to), file, footerOf);
        }
        if (moved) {
            Segments.forget(folder, from, to);
        }
        folder.delete(noteName());
    }
}
