package io.dyber.zernel.record.sink;

import io.dyber.zernel.format.LiveFolder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The footer's key-value metadata as one JSON file, [LiveFolder#DESCRIPTION], while the recording is not finished.
final class Footer {
    private static final String RECORDING = "zernel.recording";
    private static final JsonMapper JSON = JsonMapper.shared();

    private Footer() {}

    /// Values that are JSON stay JSON in the file; anything else becomes a JSON string.
    static byte[] toFile(Map<String, String> footer) {
        ObjectNode object = JSON.createObjectNode();
        footer.forEach((key, value) -> object.set(key, tree(value)));
        return (object.toPrettyString() + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /// Empty when the file is missing or torn: a recording without its description is still worth having.
    static Map<String, String> fromFile(byte[] content) {
        Map<String, String> footer = new LinkedHashMap<>();
        try {
            if (JSON.readTree(content) instanceof ObjectNode object) {
                object.forEachEntry((key, value) -> footer.put(key, value.toString()));
            }
        } catch (JacksonException _) {
            footer.clear();
        }
        return footer;
    }

    /// Says in the footer that the recording was recovered, and how much of it.
    static Map<String, String> recovered(Map<String, String> footer, long events, long lastNanos, String because) {
        Map<String, String> result = new LinkedHashMap<>(footer);
        result.putIfAbsent("zernel.format", "1");
        ObjectNode recording =
                tree(footer.getOrDefault(RECORDING, "{}")) instanceof ObjectNode known
                        ? known
                        : JSON.createObjectNode();
        recording.put("stop", "recovered");
        recording.put("complete", false);
        recording.put("events", events);
        recording.put("ended_ns", Math.max(lastNanos, recording.path("ended_ns").asLong(0)));
        ArrayNode reasons =
                recording.get("incomplete_because") instanceof ArrayNode known
                        ? known
                        : recording.putArray("incomplete_because");
        reasons.add(because);
        result.put(RECORDING, recording.toString());
        return result;
    }

    /// When the part of a series began that this is the footer of.
    static OptionalLong partBegan(Map<String, String> footer) {
        JsonNode recording = tree(footer.getOrDefault(RECORDING, "{}"));
        boolean isPart = recording.path("series").isObject() && recording.path("started_ns").isIntegralNumber();
        return isPart ? OptionalLong.of(recording.path("started_ns").asLong()) : OptionalLong.empty();
    }

    private static JsonNode tree(String value) {
        try {
            return JSON.readTree(value);
        } catch (JacksonException _) {
            return JSON.getNodeFactory().stringNode(value);
        }
    }
}
