package io.dyber.zernel.serve.mcp;

import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.Version;
import io.dyber.zernel.format.Visible;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The server's side of the Model Context Protocol: JSON-RPC 2.0, a message a line, one after the other.
///
/// Whatever a line holds, the next one is read.
public final class McpServer {
    /// Bytes of a message.
    static final int MOST_MESSAGE = 1 << 20;

    private static final int PARSE_ERROR = -32700;
    private static final int INVALID_REQUEST = -32600;
    private static final int METHOD_NOT_FOUND = -32601;
    private static final int INVALID_PARAMS = -32602;
    private static final int MOST_PROBLEM = 600;
    private static final JsonMapper JSON = JsonMapper.shared();

    /// A part of a tool's answer; its members are named as the protocol names them.
    private record TextContent(String type, String text) {}

    private final Map<String, Tool> tools = new LinkedHashMap<>();
    private final Consumer<Throwable> defects;

    /// @param recordings what tools answer of; stays the caller's to close
    /// @param defects told what no tool should throw; the client is told too
    public McpServer(OpenedRecordings recordings, Consumer<Throwable> defects) {
        this(Tools.of(recordings), defects);
    }

    McpServer(List<Tool> tools, Consumer<Throwable> defects) {
        tools.forEach(tool -> this.tools.put(tool.name(), tool));
        this.defects = defects;
    }

    /// Answers until `in` ends.
    public void serve(InputStream in, OutputStream out) throws IOException {
        LineReader lines = new LineReader(in, MOST_MESSAGE);
        for (Optional<LineReader.Line> line = lines.next(); line.isPresent(); line = lines.next()) {
            Optional<Map<String, @Nullable Object>> answer = answer(line.get());
            if (answer.isPresent()) {
                out.write((JSON.writeValueAsString(answer.get()) + "\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        }
    }

    /// The answer to a line; empty where there is none, as to a notification.
    private Optional<Map<String, @Nullable Object>> answer(LineReader.Line line) {
        return switch (line) {
            case LineReader.Line.TooLong() -> Optional.of(
                    error(null, INVALID_REQUEST, "a message has at most " + MOST_MESSAGE + " bytes"));
            case LineReader.Line.Text(String text) when text.isBlank() -> Optional.empty();
            case LineReader.Line.Text(String text) -> answer(text);
        };
    }

    private Optional<Map<String, @Nullable Object>> answer(String text) {
        JsonNode message;
        try {
            message = JSON.readTree(text);
        } catch (JacksonException e) {
            String why = String.valueOf(e.getOriginalMessage()).replaceFirst(" \\(start marker (?s).*", "");
            return Optional.of(error(null, PARSE_ERROR, "no JSON: " + oneLine(why)));
        }
        JsonNode id = message.path("id");
        if (message.isObject() && !message.has("method") && (message.has("result") || message.has("error"))) {
            return Optional.empty(); // An answer, and nothing was asked.
        }
        boolean named = id.isString() || id.isIntegralNumber();
        if (!message.path("jsonrpc").asString("").equals("2.0")
                || !message.path("method").isString()
                || !(named || id.isMissingNode())) {
            return Optional.of(error(
                    named ? id : null, INVALID_REQUEST, "a message is one object with \"jsonrpc\": \"2.0\", a method and an id"));
        }
        return named ? Optional.of(answer(id, message)) : Optional.empty();
    }

    private Map<String, @Nullable Object> answer(JsonNode id, JsonNode message) {
        JsonNode params = message.path("params");
        String method = message.path("method").stringValue();
        return switch (method) {
            case "initialize" -> result(id, initialize(params));
            case "ping" -> result(id, Map.of());
            case "tools/list" -> result(id, Map.of("tools", tools.values().stream().map(Tool::listed).toList()));
            case "tools/call" -> call(id, params);
            default -> error(id, METHOD_NOT_FOUND, "no method '" + oneLine(method) + "'");
        };
    }

    private static Map<String, Object> initialize(JsonNode params) {
        Revision revision = Revision.answering(params.path("protocolVersion").asString(""));
        Map<String, Object> server = new LinkedHashMap<>();
        server.put("name", "zernel");
        server.put("title", "Zernel");
        server.put("version", Version.current());
        if (revision == Revision.NOVEMBER_2025) {
            server.put("description", "Says where a recorded training job's time went and what to fix.");
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("protocolVersion", revision.date());
        result.put("capabilities", Map.of("tools", Map.of()));
        result.put("serverInfo", server);
        result.put("instructions", Tools.INSTRUCTIONS);
        return result;
    }

    private Map<String, @Nullable Object> call(JsonNode id, JsonNode params) {
        String name = params.path("name").asString("");
        Tool tool = tools.get(name);
        if (tool == null) {
            String known = tools.keySet().stream().collect(Collectors.joining(", "));
            return error(id, INVALID_PARAMS, "no tool '" + oneLine(name) + "': there is " + known);
        }
        try {
            Answer answer = tool.answer().apply(Arguments.of(params.path("arguments"), tool.parameters()));
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            members.put("caution", Tools.CAUTION);
            members.putAll(answer.members());
            return result(id, content(Tools.CAUTION + "\n\n" + Visible.butLines(answer.text()), members));
        } catch (RecordingException e) {
            String hint = e.hint();
            return result(id, problem(e.getMessage() + (hint == null ? "" : "; hint: " + hint)));
        } catch (IllegalArgumentException e) {
            return result(id, problem(String.valueOf(e.getMessage())));
        } catch (OutOfMemoryError e) {
            return result(id, problem("the answer does not fit this server's memory: ask for less"));
        } catch (RuntimeException e) {
            defects.accept(e);
            return result(id, problem("internal error: " + e));
        }
    }

    private static Map<String, @Nullable Object> content(String text, @Nullable Object structured) {
        Map<String, @Nullable Object> content = new LinkedHashMap<>();
        content.put("content", List.of(new TextContent("text", text)));
        if (structured != null) {
            content.put("structuredContent", structured);
        }
        content.put("isError", structured == null);
        return content;
    }

    private static Map<String, @Nullable Object> problem(String text) {
        return content(oneLine(text), null);
    }

    private static String oneLine(String text) {
        String line = Visible.of(text.strip().replaceAll("\\s+", " "));
        return line.length() <= MOST_PROBLEM ? line : line.substring(0, MOST_PROBLEM) + "...";
    }

    private static Map<String, @Nullable Object> result(JsonNode id, Object result) {
        return message(id, "result", result);
    }

    private static Map<String, @Nullable Object> error(@Nullable JsonNode id, int code, String text) {
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("code", code);
        error.put("message", text);
        return message(id, "error", error);
    }

    private static Map<String, @Nullable Object> message(@Nullable JsonNode id, String kind, Object content) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("jsonrpc", "2.0");
        message.put("id", id);
        message.put(kind, content);
        return message;
    }
}
