package io.dyber.zernel.format;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// What documents and tests every fact in the footer: the recipe of CONTRIBUTING.md.
///
/// @param types the record of each key, or of each element of its list
/// @param page `bpf/README.md`
/// @param tests text of [FooterTest]
record FooterRules(Map<String, Class<?>> types, String page, String tests) {
    /// Keys whose values are written by those who count or simulate, and that no record stands for.
    private static final Set<String> WITHOUT_RECORD = Set.of(Footer.FORMAT, Footer.THREADS, Footer.SIMULATION);

    /// Records of Java only.
    private static final Set<Class<?>> NOT_WRITTEN = Set.of(Footer.NullIfEmpty.class);

    static FooterRules shipped() throws IOException {
        return new FooterRules(
                Map.ofEntries(
                        Map.entry(Footer.RECORDING, Footer.About.class),
                        Map.entry(Footer.CLOCK, Footer.Clock.class),
                        Map.entry(Footer.SCHEMA, Footer.Schema.class),
                        Map.entry(Footer.KINDS, Footer.KindState.class),
                        Map.entry(Footer.PROBES, Footer.ProbeState.class),
                        Map.entry(Footer.LIBRARIES, Footer.LibraryInfo.class),
                        Map.entry(Footer.LOSSES, Footer.Losses.class),
                        Map.entry(Footer.PROCESSES, Footer.ProcessInfo.class),
                        Map.entry(Footer.KERNELS, Footer.KernelName.class),
                        Map.entry(Footer.HOST, Footer.HostSampling.class),
                        Map.entry(Footer.OVERHEAD, Footer.Overhead.class),
                        Map.entry(Footer.DETAIL, Footer.Detail.class),
                        Map.entry(Footer.STACKS, Footer.Stacks.class),
                        Map.entry(Footer.GPUS, Footer.GpuSampling.class),
                        Map.entry(Footer.GPU_ACTIVITY, Footer.GpuActivity.class),
                        Map.entry(Footer.DIGEST, Footer.Digest.class)),
                Files.readString(Path.of("../bpf/README.md")),
                Files.readString(Path.of("src/test/java/io/dyber/zernel/format/FooterTest.java")));
    }

    /// What is left out of these keys, and of the records in a class.
    List<String> breaches(Set<String> keys, Class<?> records) {
        List<String> breaches = new ArrayList<>();
        for (String key : keys) {
            String row = row(key);
            if (row.isEmpty()) {
                breaches.add("bpf/README.md has no row of the key '" + key + "'");
            }
            Class<?> type = types.get(key);
            if (type == null && !WITHOUT_RECORD.contains(key)) {
                breaches.add("FooterRules has no record of the key '" + key + "'");
            }
            for (String name : type == null || row.isEmpty() ? Set.<String>of() : names(type)) {
                if (!row.contains("\"" + name + "\"") && !afterTable().contains("\"" + name + "\"")) {
                    breaches.add("the row of '" + key + "' in bpf/README.md does not name '" + name + "'");
                }
                if (!Pattern.compile("\"" + name + "\\\\?\":").matcher(tests).find()) {
                    breaches.add("FooterTest has no JSON with '" + name + "' of '" + key + "'");
                }
            }
        }
        Set<Class<?>> reached = new LinkedHashSet<>(NOT_WRITTEN);
        types.values().forEach(type -> reach(type, reached));
        Stream.of(records.getDeclaredClasses())
                .filter(type -> !reached.contains(type))
                .forEach(type -> breaches.add("no key has the record " + type.getSimpleName()));
        return breaches;
    }

    /// The keys that a class names.
    static Set<String> keys(Class<?> type) {
        Set<String> keys = new LinkedHashSet<>();
        for (Field field : type.getDeclaredFields()) {
            try {
                if (Modifier.isStatic(field.getModifiers()) && field.get(null) instanceof String key) {
                    keys.add(key);
                }
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        return keys;
    }

    private String row(String key) {
        return page.lines().filter(line -> line.startsWith("| `" + key + "` |")).findFirst().orElse("");
    }

    private String afterTable() {
        return page.substring(Math.max(0, page.indexOf("| `zernel.simulation` |")));
    }

    /// Names of the members of a record, and of the records in it.
    private static Set<String> names(Class<?> type) {
        Set<String> names = new LinkedHashSet<>();
        for (RecordComponent component : type.getRecordComponents()) {
            if (!component.getAccessor().isAnnotationPresent(JsonUnwrapped.class)) {
                names.add(component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT));
            }
            recordOf(component.getGenericType()).map(FooterRules::names).forEach(names::addAll);
        }
        return names;
    }

    private static void reach(Class<?> type, Set<Class<?>> reached) {
        reached.add(type);
        for (RecordComponent component : type.getRecordComponents()) {
            recordOf(component.getGenericType()).forEach(inner -> reach(inner, reached));
        }
    }

    /// The record that a member is, or has a list of.
    private static Stream<Class<?>> recordOf(Type type) {
        Type element = type instanceof ParameterizedType parameterized ? parameterized.getActualTypeArguments()[0] : type;
        return element instanceof Class<?> inner && inner.isRecord() ? Stream.of(inner) : Stream.empty();
    }
}
