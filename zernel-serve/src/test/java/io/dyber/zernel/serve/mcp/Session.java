package io.dyber.zernel.serve.mcp;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A server and what it is sent, in this process.
final class Session implements AutoCloseable {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final OpenedRecordings recordings;
    private final McpServer server;
    private final List<Throwable> defects = new ArrayList<>();
    private final AtomicInteger calls = new AtomicInteger();

    Session(Path recording, @Nullable Path before) {
        recordings = OpenedRecordings.open(List.of(recording.toString()), before == null ? null : before.toString());
        server = new McpServer(recordings, defects::add);
    }

    /// The lines of its answers.
    List<String> lines(String... messages) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            server.serve(new ByteArrayInputStream(String.join("\n", messages).getBytes(StandardCharsets.UTF_8)), out);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /// The result of a tool.
    JsonNode call(String tool, Map<String, ?> arguments) {
        String message = JSON.writeValueAsString(Map.of(
                "jsonrpc", "2.0",
                "id", calls.incrementAndGet(),
                "method", "tools/call",
                "params", Map.of("name", tool, "arguments", arguments)));
        return JSON.readTree(lines(message).getFirst()).path("result");
    }

    /// What a tool says is wrong.
    String problem(String tool, Map<String, ?> arguments) {
        JsonNode result = call(tool, arguments);
        if (!result.path("isError").asBoolean(false) || result.has("structuredContent")) {
            throw new AssertionError("no error: " + result);
        }
        return text(result);
    }

    static String text(JsonNode result) {
        return result.path("content").path(0).path("text").stringValue();
    }

    List<Throwable> defects() {
        return defects;
    }

    @Override
    public void close() {
        recordings.close();
    }
}
