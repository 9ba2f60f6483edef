package io.dyber.zernel.record.live;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What a program says it did: its lines of JSON.
record Truth(List<JsonNode> lines) {
    static Truth of(List<String> output) {
        JsonMapper mapper = JsonMapper.shared();
        return new Truth(output.stream()
                .filter(line -> line.startsWith("{"))
                .map(mapper::readTree)
                .toList());
    }

    /// The line of one case.
    JsonNode of(String name) {
        return lines.stream()
                .filter(line -> line.path("case").asString("").equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the program says nothing about '" + name + "': " + lines));
    }

    /// The only line.
    JsonNode only() {
        if (lines.size() != 1) {
            throw new AssertionError("not one line of JSON: " + lines);
        }
        return lines.getFirst();
    }

    static List<Long> longs(JsonNode array) {
        return array.valueStream().map(JsonNode::asLong).toList();
    }
}
