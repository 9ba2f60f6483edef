package io.dyber.zernel.format;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// The footer as one JSON file, [LiveFolder#DESCRIPTION], while the recording is not finished.
public final class FooterFile {
    private static final JsonMapper JSON = JsonMapper.shared();

    private FooterFile() {}

    /// Values that are JSON stay JSON in the file; anything else becomes a JSON string.
    public static byte[] write(Map<String, String> footer) {
        ObjectNode object = JSON.createObjectNode();
        footer.forEach((key, value) -> object.set(key, tree(value)));
        return (object.toPrettyString() + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /// The values, each JSON; none of a file that is no JSON object.
    ///
    /// @throws JacksonException when it is torn
    public static Map<String, String> read(byte[] content) {
        Map<String, String> footer = new LinkedHashMap<>();
        if (JSON.readTree(content) instanceof ObjectNode object) {
            object.forEachEntry((key, value) -> footer.put(key, value.toString()));
        }
        return footer;
    }

    /// A value as what it holds; a JSON string for what is no JSON.
    public static JsonNode tree(String value) {
        try {
            return JSON.readTree(value);
        } catch (JacksonException _) {
            return JSON.getNodeFactory().stringNode(value);
        }
    }
}
