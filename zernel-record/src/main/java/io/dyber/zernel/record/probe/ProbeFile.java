package io.dyber.zernel.record.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.json.JsonMapper;

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
        if (!(content() instanceof List<?> entries)) {
            throw error("it must hold a list of probes");
        }
        List<ProbeSpec> probes = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            add(probes, entries.get(i), "entry " + (i + 1));
        }
        return List.copyOf(probes);
    }

    /// The values of the file as maps, lists, texts and others.
    private @Nullable Object content() {
        try {
            String text = Files.readString(file);
            return file.toString().endsWith(".json")
                    ? JsonMapper.shared().readValue(text, Object.class)
                    : new Load(LoadSettings.builder().build()).loadFromString(text);
        } catch (NoSuchFileException _) {
            throw error("no such file");
        } catch (IOException e) {
            throw error(String.valueOf(e.getMessage()));
        } catch (JacksonException e) {
            TokenStreamLocation at = e.getLocation();
            throw error((at == null ? "" : "line " + at.getLineNr() + ": ") + e.getOriginalMessage());
        } catch (MarkedYamlEngineException e) {
            throw error(e.getProblemMark().map(mark -> "line " + (mark.getLine() + 1) + ": ").orElse("") + e.getProblem());
        } catch (YamlEngineException e) {
            throw error(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
        }
    }

    private void add(List<ProbeSpec> probes, @Nullable Object entry, String where) {
        if (entry instanceof String text) {
            probes.add(ProbeSpec.parse(text));
            return;
        }
        if (!(entry instanceof Map<?, ?> values)) {
            throw error(where + " is neither a probe text nor an object with library, symbols and args");
        }
        for (Object key : values.keySet()) {
            if (!KEYS.contains(String.valueOf(key))) {
                throw error(where + " has an unknown key '" + key + "', known are " + String.join(", ", KEYS));
            }
        }
        if (addKinds(probes, values, where)) {
            return;
        }
        String library = text(values, "library", where);
        String arguments = arguments(values, where);
        if (values.containsKey("usdt")) {
            probes.add(ProbeSpec.parse("usdt:" + library + ":" + text(values, "usdt", where) + arguments));
            return;
        }
        for (String symbol : symbols(values, where)) {
            probes.add(ProbeSpec.parse(library + ":" + symbol + arguments));
        }
    }

    /// Whether the entry names what to record of kinds that need no library.
    private boolean addKinds(List<ProbeSpec> probes, Map<?, ?> entry, String where) {
        List<String> kinds = KINDS.stream().filter(entry::containsKey).toList();
        boolean hasRole = kinds.contains(PythonProbe.KIND) && entry.containsKey(CallRole.COLUMN);
        if (!kinds.isEmpty() && entry.size() > kinds.size() + (hasRole ? 1 : 0)) {
            throw error(where + " has other keys besides " + kinds.getFirst());
        }
        for (String kind : kinds) {
            List<String> patterns = entry.get(kind) instanceof List ? texts(entry, kind, where) : List.of(text(entry, kind, where));
            String role = hasRole && kind.equals(PythonProbe.KIND) ? arguments(entry, where) : "";
            patterns.forEach(pattern -> probes.add(ProbeSpec.parse(kind + ":" + pattern + role)));
        }
        return !kinds.isEmpty();
    }

    private List<String> symbols(Map<?, ?> entry, String where) {
        return entry.containsKey("symbol") ? List.of(text(entry, "symbol", where)) : texts(entry, "symbols", where);
    }

    private List<String> texts(Map<?, ?> entry, String key, String where) {
        List<String> texts = new ArrayList<>();
        for (Object one : entry.get(key) instanceof List<?> list ? list : List.of()) {
            if (!(one instanceof String text)) {
                throw error(where + " has one of " + key + " that is not a text");
            }
            texts.add(text);
        }
        if (texts.isEmpty()) {
            throw error(where + " has no " + key);
        }
        return texts;
    }

    private String arguments(Map<?, ?> entry, String where) {
        List<String> assignments = new ArrayList<>();
        if (entry.containsKey("args")) {
            if (!(entry.get("args") instanceof Map<?, ?> arguments)) {
                throw error(where + " has args that are not COLUMN: VALUE");
            }
            arguments.forEach((column, value) -> {
                if (!(value instanceof String text)) {
                    throw error(where + " has no text for '" + column + "', such as arg1");
                }
                assignments.add(column + "=" + text);
            });
        }
        if (entry.containsKey(CallRole.COLUMN)) {
            assignments.add(CallRole.COLUMN + "=" + text(entry, CallRole.COLUMN, where));
        }
        return "(" + String.join(", ", assignments) + ")";
    }

    private String text(Map<?, ?> entry, String key, String where) {
        if (!(entry.get(key) instanceof String text)) {
            throw error(where + " has no " + key);
        }
        return text;
    }

    private IllegalArgumentException error(String why) {
        return new IllegalArgumentException("reading probes from '" + file + "': " + why);
    }
}
