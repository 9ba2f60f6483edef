package io.dyber.zernel.record;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Ways of doing the same, measured in turn in each round of one run; printed with their spread and as multiples of the
/// first.
public final class Comparison {
    private final String title;
    private final String unit;
    private final Map<String, List<Double>> measured = new LinkedHashMap<>();
    private final Map<String, String> notes = new LinkedHashMap<>();

    public Comparison(String title, String unit) {
        this.title = title;
        this.unit = unit;
    }

    /// Adds what one round measured.
    public void add(String way, double value) {
        measured.computeIfAbsent(way, _ -> new ArrayList<>()).add(value);
    }

    /// Says something beside a way's numbers.
    public void note(String way, String note) {
        notes.put(way, note);
    }

    public double median(String way) {
        List<Double> sorted = measured.getOrDefault(way, List.of(Double.NaN)).stream().sorted().toList();
        return sorted.get(sorted.size() / 2);
    }

    /// Prints a Markdown table.
    public void print() {
        if (measured.isEmpty()) {
            return;
        }
        String baseline = measured.keySet().iterator().next();
        System.out.println("\n" + title + "\n");
        System.out.println("| way | " + unit + " | min..max | x " + baseline + " | |");
        System.out.println("|---|---:|---:|---:|---|");
        measured.forEach((way, values) -> System.out.printf(
                Locale.ROOT,
                "| %s | %s | %s..%s | %.2f | %s |%n",
                way,
                number(median(way)),
                number(values.stream().mapToDouble(d -> d).min().orElse(0)),
                number(values.stream().mapToDouble(d -> d).max().orElse(0)),
                median(way) / median(baseline),
                notes.getOrDefault(way, "")));
        System.out.flush();
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    }
}
