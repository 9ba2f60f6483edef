package io.dyber.zernel.serve.metric;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Labels that a user gives, which all series and all alerts have beside their own.
///
/// @param values by their names, in the order given
public record CommonLabels(Map<String, String> values) {
    /// Where the user gives none.
    public static final CommonLabels NONE = new CommonLabels(Map.of());

    private static final String NAME = "[a-zA-Z_][a-zA-Z0-9_]*";
    /// That Prometheus or a rule gives to some series, besides those of [Metrics#LABELS].
    private static final Set<String> TAKEN = Set.of("quantile", "le");

    public CommonLabels {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /// Reads `name=value`, each.
    ///
    /// @throws IllegalArgumentException if one is not that, or its name cannot be given; the message is one line
    public static CommonLabels parse(List<String> labels) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String label : labels) {
            int end = label.indexOf('=');
            if (end < 0) {
                throw bad(label, "a label is NAME=VALUE");
            }
            String name = label.substring(0, end);
            String value = label.substring(end + 1);
            check(label, name, value);
            if (values.put(name, value) != null) {
                throw bad(label, "'" + name + "' is given twice");
            }
        }
        return new CommonLabels(values);
    }

    private static void check(String label, String name, String value) {
        if (!name.matches(NAME)) {
            throw bad(label, "a name has letters, digits and _, and no digit first");
        }
        if (name.startsWith("__")) {
            throw bad(label, "names that begin with __ are Prometheus' own");
        }
        if (Metrics.LABELS.containsKey(name) || TAKEN.contains(name)) {
            throw bad(label, "series have a label '" + name + "' already; give another name");
        }
        if (value.isEmpty()) {
            throw bad(label, "the value is empty, which is the same as no label");
        }
    }

    private static IllegalArgumentException bad(String label, String why) {
        return new IllegalArgumentException("reading label '" + label + "': " + why);
    }

    /// These labels and `own`, which come first.
    public Map<String, String> with(Map<String, String> own) {
        Map<String, String> all = new LinkedHashMap<>(own);
        all.putAll(values);
        return all;
    }
}
