package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/// What the footers of files say of the digests among them: what they are of, and which files have the same columns.
///
/// Nothing but the footers is read, by whoever has them.
///
/// @param recordings what the digests are of
/// @param unread files that were left out
/// @param layouts digests by their columns
public record DigestFooters(List<AttachedRecording> recordings, List<Digests.Unread> unread, List<Layout> layouts) {
    /// Files with the same columns.
    public record Layout(Footer.Digest digest, List<Path> paths) {}

    /// Sorts files by their footers.
    ///
    /// @param footers of each file the keys of Zernel
    /// @param damaged files that have none that can be read
    /// @param first the number of the first recording
    /// @throws RecordingException if none is a digest
    public static DigestFooters of(Map<Path, Map<String, String>> footers, List<Digests.Unread> damaged, int first) {
        List<Digests.Unread> unread = new ArrayList<>(damaged);
        List<AttachedRecording> recordings = new ArrayList<>();
        Map<String, Layout> layouts = new LinkedHashMap<>();
        Map<Map<String, String>, Path> seen = new HashMap<>();
        footers.forEach((path, footer) -> {
            String said = footer.get(Footer.DIGEST);
            Path same = seen.putIfAbsent(footer, path);
            if (said == null) {
                unread.add(new Digests.Unread(path, "foreign", "it is no digest"));
            } else if (same != null) {
                unread.add(new Digests.Unread(path, "duplicate", "the same as " + same));
            } else {
                add(path, footer, said, layouts, unread, recordings, first);
            }
        });
        if (recordings.isEmpty()) {
            throw unread.isEmpty()
                    ? new RecordingException("opening digests: there are none", null)
                    : new RecordingException("opening '" + unread.getFirst().path() + "': " + unread.getFirst().why(), null);
        }
        return new DigestFooters(
                recordings, unread, layouts.values().stream().filter(layout -> !layout.paths().isEmpty()).toList());
    }

    private static void add(
            Path path,
            Map<String, String> footer,
            String said,
            Map<String, Layout> layouts,
            List<Digests.Unread> unread,
            List<AttachedRecording> recordings,
            int first) {
        try {
            Layout layout = layouts.computeIfAbsent(said.replaceFirst("\"of\":\"[^\"]*\"", ""), _ -> new Layout(Footer.digest(said), new ArrayList<>()));
            if (layout.digest().format() > Footer.Digest.CURRENT_FORMAT) {
                unread.add(Digests.newer(path, layout.digest()));
                return;
            }
            Footer.About about = Footer.parse(Map.of(Footer.RECORDING, footer.getOrDefault(Footer.RECORDING, "{}"))).recording();
            Map<String, String> metadata = new HashMap<>(footer);
            metadata.remove(Footer.DIGEST);
            layout.paths().add(path);
            recordings.add(new AttachedRecording(
                    new Recording(
                            first + recordings.size(), path, Recording.State.DIGEST, about.events(), metadata, note(Footer.digest(said))),
                    List.of()));
        } catch (RecordingException e) {
            unread.add(new Digests.Unread(path, "damaged", Digests.why(e)));
        }
    }

    private static String note(Footer.Digest digest) {
        String skipped = String.join(", ", new TreeSet<>(digest.skipped().keySet()));
        return "digest of " + digest.of() + (skipped.isEmpty() ? "" : "; could not run: " + skipped);
    }

    /// These digests without their rows: all that is known are the footers.
    public Digests withoutRows() {
        return new Digests(recordings, unread, Map.of());
    }
}
