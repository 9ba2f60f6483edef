package io.dyber.zernel.record.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/// Reads a list of probes from a JSON or YAML file.
///
/// ```yaml
/// - library: libfoo.so
///   symbols: [my_call, my_other_*]     # or symbol: my_call
///   args: {bytes: arg2, stream: arg4}
///   role: data_wait                    # see [CallRole]
/// - library: libc10_cuda.so
///   usdt: pytorch:malloc
///   args: {addr: arg1, bytes: arg3}
/// - torch_op: [aten::conv*, add]        # or one of them
/// - py_call: Trainer.*                 # also with a role
/// - libbar.so:f(name=arg1:str)         # as with --probe
/// ```
public final class ProbeFile {
    private static final List<String> KINDS = List.of(OperatorProbe.KIND, PythonProbe.KIND);
    private static final List<String> KEYS =
            List.of("library", "symbol", "symbols", "usdt", "args", CallRole.COLUMN, OperatorProbe.KIND, PythonProbe.KIND);

    private final Path file;

    private ProbeFile(Path file) {
        this.file = file;
    }

    /// The probes of a file, in its order.
    ///
    /// @throws IllegalArgumentException that says what is wrong where; a [ProbeSyntaxException] if it is a probe
    public static List<ProbeSpec> read(Path file) {
        return new ProbeFile(file).read();
    }

    private List<ProbeSpec> read() {
        JsonNode root;
        try {
            root = mapper().readTree(Files.readString(file));
        } catch (NoSuchFileException _) {
            throw error("no such file");
        } catch (IOException e) {
            throw error(String.valueOf(e.getMessage()));
        } catch (JacksonException e) {
            TokenStreamLocation at = e.getLocation();
            throw error((at == null ? "" : "line " + at.getLineNr() + ": ") + e.getOriginalMessage());
        }
        if (!root.isArray()) {
            throw error("it must hold a list of probes");
        }
        List<ProbeSpec> probes = new ArrayList<>();
        for (int i = 0; i < root.size(); i++) {
            add(probes, root.get(i), "entry " + (i + 1));
        }
        return List.copyOf(probes);
    }

    private ObjectMapper mapper() {
        return file.toString().endsWith(".json") ? JsonMapper.shared() : new YAMLMapper();
    }

    private void add(List<ProbeSpec> probes, JsonNode entry, String where) {
        if (entry.isString()) {
            probes.add(ProbeSpec.parse(entry.stringValue()));
            return;
        }
        if (!entry.isObject()) {
            throw error(where + " is neither a probe text nor an object with library, symbols and args");
        }
        for (String key : entry.propertyNames()) {
            if (!KEYS.contains(key)) {
                throw error(where + " has an unknown key '" + key + "', known are " + String.join(", ", KEYS));
            }
        }
        if (addKinds(probes, entry, where)) {
            return;
        }
        String library = text(entry, "library", where);
        String arguments = arguments(entry, where);
        if (entry.has("usdt")) {
            probes.add(ProbeSpec.parse("usdt:" + library + ":" + text(entry, "usdt", where) + arguments));
            return;
        }
        for (String symbol : symbols(entry, where)) {
            probes.add(ProbeSpec.parse(library + ":" + symbol + arguments));
        }
    }

    /// Whether the entry names what to record of kinds that need no library.
    private boolean addKinds(List<ProbeSpec> probes, JsonNode entry, String where) {
        List<String> kinds = KINDS.stream().filter(entry::has).toList();
        boolean hasRole = kinds.contains(PythonProbe.KIND) && entry.has(CallRole.COLUMN);
        if (!kinds.isEmpty() && entry.size() > kinds.size() + (hasRole ? 1 : 0)) {
            throw error(where + " has other keys beside " + kinds.getFirst());
        }
        for (String kind : kinds) {
            List<String> patterns =
                    entry.path(kind).isArray() ? texts(entry, kind, where) : List.of(text(entry, kind, where));
            String role = hasRole && kind.equals(PythonProbe.KIND) ? arguments(entry, where) : "";
            patterns.forEach(pattern -> probes.add(ProbeSpec.parse(kind + ":" + pattern + role)));
        }
        return !kinds.isEmpty();
    }

    private List<String> symbols(JsonNode entry, String where) {
        return entry.has("symbol") ? List.of(text(entry, "symbol", where)) : texts(entry, "symbols", where);
    }

    private List<String> texts(JsonNode entry, String key, String where) {
        List<String> texts = new ArrayList<>();
        for (JsonNode text : entry.path(key)) {
            if (!text.isString()) {
                throw error(where + " has one of " + key + " that is not a text");
            }
            texts.add(text.stringValue());
        }
        if (texts.isEmpty()) {
            throw error(where + " has no " + key);
        }
        return texts;
    }

    private String arguments(JsonNode entry, String where) {
        JsonNode arguments = entry.path("args");
        if (!arguments.isMissingNode() && !arguments.isObject()) {
            throw error(where + " has args that are not COLUMN: VALUE");
        }
        List<String> assignments = new ArrayList<>();
        for (String column : arguments.propertyNames()) {
            JsonNode value = arguments.path(column);
            if (!value.isString()) {
                throw error(where + " has no text for '" + column + "', such as arg1");
            }
            assignments.add(column + "=" + value.stringValue());
        }
        if (entry.has(CallRole.COLUMN)) {
            assignments.add(CallRole.COLUMN + "=" + text(entry, CallRole.COLUMN, where));
        }
        return "(" + String.join(", ", assignments) + ")";
    }

    private String text(JsonNode entry, String key, String where) {
        JsonNode value = entry.path(key);
        if (!value.isString()) {
            throw error(where + " has no " + key);
        }
        return value.stringValue();
    }

    private IllegalArgumentException error(String why) {
        return new IllegalArgumentException("reading probes from '" + file + "': " + why);
    }
}
