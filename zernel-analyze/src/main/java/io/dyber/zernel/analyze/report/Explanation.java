package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.Threshold;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// What a finding or view says about itself: why it matters, when it does not apply, what it reads and decides by, its SQL.
public record Explanation(Page page, SqlLibrary library) {
    private static final int LABEL = 12;

    public void write(SqlObject object) {
        page.heading(object.name() + ": " + object.title());
        page.blank();
        for (String paragraph : object.why().split("\n\n")) {
            page.paragraph("", paragraph.replace('\n', ' '));
            page.blank();
        }
        entry("severity", object.keys().getOrDefault("severity", ""));
        entry("hint", object.keys().getOrDefault("hint", ""));
        object.keys().getOrDefault("lines", "").lines().forEach(lines -> entry("lines", lines));
        entry("reads", String.join(", ", object.needs()));
        entry("from", String.join(", ", inputs(object)));
        thresholds(Threshold.of(object));
        page.blank();
        page.heading("SQL of " + object.origin());
        object.sql().lines().forEach(page::line);
    }

    private void entry(String label, String text) {
        if (!text.isEmpty()) {
            page.paragraph(String.format(Locale.ROOT, "%-" + LABEL + "s", label), text);
        }
    }

    /// What the views that it reads are made of.
    private Set<String> inputs(SqlObject object) {
        Set<String> inputs = new LinkedHashSet<>();
        Deque<String> open = new ArrayDeque<>(object.needs());
        while (!open.isEmpty()) {
            SqlObject needed = library.find(open.poll());
            for (String input : needed == null ? List.<String>of() : needed.needs()) {
                if (!object.needs().contains(input) && inputs.add(input)) {
                    open.add(input);
                }
            }
        }
        return inputs;
    }

    private void thresholds(List<Threshold> thresholds) {
        int names = thresholds.stream().mapToInt(one -> one.name().length()).max().orElse(0);
        int values = thresholds.stream().mapToInt(one -> one.value().length()).max().orElse(0);
        String label = "thresholds";
        for (Threshold threshold : thresholds) {
            String format = "%-" + LABEL + "s%-" + names + "s  %" + values + "s  ";
            page.paragraph(String.format(Locale.ROOT, format, label, threshold.name(), threshold.value()), threshold.meaning());
            label = "";
        }
    }
}
