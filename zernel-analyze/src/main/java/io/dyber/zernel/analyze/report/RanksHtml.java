package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Table;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/// Which rank held up the others when: a row per rank, a column per stretch of time, darker where it took longer.
record RanksHtml(PrintWriter out) {
    private static final int POINTS = 60;
    private static final int MOST_RANKS = 64;
    private static final int MOST_COMMUNICATORS = 4;

    void write(Table delays) {
        Map<Long, Map<Long, Map<Long, Table.Row>>> communicators = new LinkedHashMap<>();
        for (Table.Row row : delays.rows()) {
            communicators
                    .computeIfAbsent(row.integer("comm_id"), _ -> new LinkedHashMap<>())
                    .computeIfAbsent(row.integer("rank"), _ -> new LinkedHashMap<>())
                    .put(row.integer("point"), row);
        }
        if (communicators.isEmpty()) {
            return;
        }
        out.println("<h2>Ranks that held up the others</h2>");
        communicators.entrySet().stream().limit(MOST_COMMUNICATORS).forEach(entry -> {
            Table.Row any = entry.getValue().values().iterator().next().values().iterator().next();
            communicator(any.integer("nranks"), entry.getValue());
        });
        if (communicators.size() > MOST_COMMUNICATORS) {
            out.println("<p class=\"quiet\">and " + (communicators.size() - MOST_COMMUNICATORS)
                    + " more communicators</p>");
        }
    }

    private void communicator(long ranks, Map<Long, Map<Long, Table.Row>> rows) {
        // The first collectives wait for start-up and would pale all others.
        double most = rows.values().stream()
                .flatMap(points -> points.values().stream())
                .filter(row -> row.integer("point") > 0)
                .mapToLong(row -> row.integer("delay_ns"))
                .max()
                .orElse(1);
        out.println("<figure><div class=\"heat\">");
        for (long rank = 0; rank < Math.min(MOST_RANKS, ranks); rank++) {
            out.println("<span>rank " + rank + "</span><svg viewBox=\"0 0 " + POINTS
                    + " 1\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"delays of rank " + rank + "\">");
            rows.getOrDefault(rank, Map.of()).values().forEach(row -> cell(row, most));
            out.println("</svg>");
        }
        out.println("</div><figcaption>One row per rank of a communicator of " + ranks
                + ", from its first collective to its last. The stronger the colour, the longer the others waited for this rank alone: "
                + "at most " + Quantity.glued(Quantity.time(most)) + " for each collective, but for the first of all."
                + (ranks > MOST_RANKS ? " The first " + MOST_RANKS + " ranks are shown." : "") + "</figcaption></figure>");
    }

    private void cell(Table.Row row, double most) {
        double delay = row.integer("delay_ns");
        out.println(String.format(
                Locale.ROOT,
                "<rect x=\"%d\" y=\"0\" width=\"1\" height=\"1\" fill-opacity=\"%.2f\"><title>last to %d of %d collectives "
                        + "from number %d on, by %s on average</title></rect>",
                row.integer("point"),
                most == 0 ? 0 : Math.min(1, delay / most),
                row.integer("times_last"),
                row.integer("collectives"),
                row.integer("first_number"),
                Quantity.time(delay)));
    }
}
