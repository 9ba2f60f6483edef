package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.FooterFile;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The footer of a recording that its recorder did not finish. Works on the JSON as it is, because a newer recorder may
/// have written members that are not known here.
final class RecoveredFooter {
    private static final JsonMapper JSON = JsonMapper.shared();

    private RecoveredFooter() {}

    /// What the recorder last said; empty when that is missing or torn: a recording without its description is still worth
    /// having.
    static Map<String, String> known(byte[] content) {
        try {
            return FooterFile.read(content);
        } catch (JacksonException _) {
            return Map.of();
        }
    }

    /// Says in the footer that the recording was recovered, and how much of it.
    static Map<String, String> of(Map<String, String> footer, long events, long lastNanos, String because) {
        Map<String, String> result = new LinkedHashMap<>(footer);
        result.putIfAbsent(Footer.FORMAT, Footer.json(Footer.CURRENT_FORMAT));
        ObjectNode recording = recording(footer) instanceof ObjectNode known ? known : JSON.createObjectNode();
        recording.put("stop", "recovered");
        recording.put("complete", false);
        recording.put("events", events);
        recording.put("ended_ns", Math.max(lastNanos, recording.path("ended_ns").asLong(0)));
        ArrayNode reasons =
                recording.get("incomplete_because") instanceof ArrayNode known
                        ? known
                        : recording.putArray("incomplete_because");
        reasons.add(because);
        result.put(Footer.RECORDING, recording.toString());
        return result;
    }

    /// When the part of a series began that this is the footer of.
    static OptionalLong partBegan(Map<String, String> footer) {
        JsonNode recording = recording(footer);
        boolean isPart = recording.path("series").isObject() && recording.path("started_ns").isIntegralNumber();
        return isPart ? OptionalLong.of(recording.path("started_ns").asLong()) : OptionalLong.empty();
    }

    private static JsonNode recording(Map<String, String> footer) {
        return FooterFile.tree(footer.getOrDefault(Footer.RECORDING, "{}"));
    }
}
