package io.dyber.zernel.serve.mcp;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// Something that a client can ask.
///
/// @param description what it answers, for whoever chooses between tools
/// @param answer may throw a [io.dyber.zernel.format.RecordingException] or an IllegalArgumentException, which say what is wrong
record Tool(String name, String title, String description, List<Parameter> parameters, Function<Arguments, Answer> answer) {
    /// All of them only read, and nothing but the recordings.
    private static final Map<String, Object> ANNOTATIONS =
            Map.of("readOnlyHint", true, "destructiveHint", false, "idempotentHint", true, "openWorldHint", false);

    /// As `tools/list` shows it.
    Map<String, Object> listed() {
        Map<String, Object> properties = new LinkedHashMap<>();
        parameters.forEach(parameter -> properties.put(parameter.name(), parameter.schema()));
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("properties", properties);
        schema.put("required", parameters.stream().filter(Parameter::required).map(Parameter::name).toList());
        schema.put("additionalProperties", false);
        Map<String, Object> listed = new LinkedHashMap<>();
        listed.put("name", name);
        listed.put("title", title);
        listed.put("description", description);
        listed.put("inputSchema", schema);
        listed.put("annotations", new java.util.TreeMap<>(ANNOTATIONS));
        return listed;
    }
}
