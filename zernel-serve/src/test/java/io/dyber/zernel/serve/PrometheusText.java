package io.dyber.zernel.serve;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads Prometheus' text format, strictly: anything it does not understand is an error.
///
/// @param types `TYPE` by family
/// @param helps `HELP` by family
/// @param values by series, labels sorted: `name{a="1",b="2"}`
record PrometheusText(Map<String, String> types, Map<String, String> helps, Map<String, Double> values) {
    private static final Pattern SAMPLE = Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\.)*)\",?");

    static PrometheusText parse(String text) {
        PrometheusText parsed = new PrometheusText(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        for (String line : text.split("\n")) {
            String[] words = line.split(" ", 4);
            if (line.startsWith("# TYPE ")) {
                parsed.types.put(words[2], words[3]);
            } else if (line.startsWith("# UNIT ")) {
                parsed.types.put(words[2] + " in", words[3]);
            } else if (line.startsWith("# HELP ")) {
                parsed.helps.put(words[2], words[3]);
            } else if (!line.equals("# EOF") && !line.isEmpty()) {
                parsed.addSample(line);
            }
        }
        return parsed;
    }

    private void addSample(String line) {
        Matcher sample = SAMPLE.matcher(line);
        if (!sample.matches()) {
            throw new IllegalArgumentException("no sample: " + line);
        }
        Map<String, String> labels = new TreeMap<>();
        String inside = sample.group(2) == null ? "" : sample.group(2);
        Matcher label = LABEL.matcher(inside);
        int end = 0;
        while (label.find() && label.start() == end) {
            labels.put(label.group(1), label.group(1).equals("le") ? bound(label.group(2)) : label.group(2));
            end = label.end();
        }
        if (end != inside.length()) {
            throw new IllegalArgumentException("no labels: " + line);
        }
        List<String> written = new ArrayList<>();
        labels.forEach((name, value) -> written.add(name + "=\"" + value + "\""));
        String series = sample.group(1) + (written.isEmpty() ? "" : "{" + String.join(",", written) + "}");
        if (values.put(series, Double.valueOf(sample.group(3))) != null) {
            throw new IllegalArgumentException("twice: " + series);
        }
    }

    /// A number that may be spelt in several ways.
    private static String bound(String text) {
        return text.equals("+Inf") ? text : Double.toString(Double.parseDouble(text));
    }

    /// Everything as lines in a fixed order, numbers in one spelling.
    String canonical() {
        StringBuilder lines = new StringBuilder();
        new TreeMap<>(types).forEach((family, type) -> {
            lines.append("# ").append(family).append(' ').append(type).append('\n');
        });
        new TreeMap<>(values).forEach((series, value) -> lines.append(series).append(' ').append(value).append('\n'));
        return lines.toString();
    }
}
