package io.dyber.zernel.serve.mcp;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// An argument that a tool takes.
///
/// @param description what clients are told of it
/// @param required whether it has to be given
/// @param least of a whole number; null for a text
/// @param most of a whole number; null for a text
record Parameter(String name, String description, boolean required, @Nullable Integer least, @Nullable Integer most) {
    static Parameter text(String name, String description) {
        return new Parameter(name, description, true, null, null);
    }

    static Parameter optionalText(String name, String description) {
        return new Parameter(name, description, false, null, null);
    }

    static Parameter optionalNumber(String name, String description, int least, int most) {
        return new Parameter(name, description, false, least, most);
    }

    /// As JSON Schema.
    Map<String, Object> schema() {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", least == null ? "string" : "integer");
        schema.put("description", description);
        if (least != null && most != null) {
            schema.put("minimum", least);
            schema.put("maximum", most);
        }
        return schema;
    }
}
