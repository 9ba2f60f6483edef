package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.FindingWords;
import io.dyber.zernel.analyze.report.data.Fleet;
import io.dyber.zernel.analyze.report.data.HeatMap;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import io.dyber.zernel.analyze.report.text.VerdictText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/// A fleet on one screen: what to fix first, how often each finding was made, how late ranks come by machine, and the ten
/// latest. Never a line for each rank.
///
/// @param page where it goes
public record FleetText(Page page) {
    private static final int MOST_FINDINGS = 8;
    private static final int MOST_RANKS = 10;
    private static final int MOST_UNREAD = 3;
    private static final int MOST_RUNS = 4;
    private static final int MOST_PLACES = 16;
    private static final int MARGIN = 12;

    private static final Map<String, String> PHASES = phases();

    private static Map<String, String> phases() {
        Map<String, String> phases = new LinkedHashMap<>();
        phases.put("data_loading_ns", "data");
        phases.put("gpu_compute_ns", "compute");
        phases.put("nccl_collective_ns", "comm");
        phases.put("optimizer_step_ns", "optimizer");
        phases.put("unknown_ns", "unknown");
        return phases;
    }

    /// Writes all of it.
    public void write(Fleet fleet) {
        opened(fleet);
        page.blank();
        new VerdictText(page).write(fleet.verdict());
        steps(fleet);
        findings(fleet);
        heat(HeatMap.of(fleet));
        worst(fleet);
        page.blank();
        page.paragraph("Next: ", "zernel-analyze report of the recording of a machine above; --html for the map of all ranks");
    }

    private void opened(Fleet fleet) {
        List<Table.Row> recordings = fleet.report().section("recordings").rows();
        long hosts = recordings.stream().map(row -> String.valueOf(row.text("host"))).distinct().count();
        boolean simulated = recordings.stream().anyMatch(row -> row.flag("simulated"));
        page.paragraph("", String.format(
                Locale.ROOT,
                "%,d digest%s of %,d host%s, %,d ranks%s",
                recordings.size(),
                recordings.size() == 1 ? "" : "s",
                hosts,
                hosts == 1 ? "" : "s",
                fleet.ranks().rows().size(),
                simulated ? "  SIMULATED: not a real job" : ""));
        long steps = fleet.ranks().rows().stream().mapToLong(row -> row.integer("steps")).sum();
        long events = recordings.stream().mapToLong(row -> row.integer("events")).sum();
        page.paragraph("  ", String.format(Locale.ROOT, "%,d steps, %,d events; %s", steps, events, fleet.incomplete() == 0
                ? "lost: nothing"
                : String.format(Locale.ROOT, "%,d recordings are not complete: zernel-analyze info", fleet.incomplete())));
        unread(fleet);
        missing(fleet);
        if (fleet.lacking() > 0) {
            page.paragraph("  ", String.format(Locale.ROOT, "%,d digests lack findings that could not run: zernel-analyze info", fleet.lacking()));
        }
    }

    private void unread(Fleet fleet) {
        List<Table.Row> unread = fleet.unread().rows();
        if (!unread.isEmpty()) {
            page.paragraph("  left out: ", count(unread.size(), "file") + ": "
                    + unread.stream()
                            .limit(MOST_UNREAD)
                            .map(row -> row.requiredText("path") + " (" + row.requiredText("state") + ": " + row.requiredText("why") + ")")
                            .collect(Collectors.joining(", "))
                    + more(unread.size() - MOST_UNREAD));
        }
    }

    private void missing(Fleet fleet) {
        Map<String, List<Table.Row>> jobs =
                fleet.missing().rows().stream().collect(Collectors.groupingBy(row -> row.requiredText("job"), LinkedHashMap::new, Collectors.toList()));
        if (jobs.isEmpty()) {
            return;
        }
        long ranks = fleet.missing().rows().stream().mapToLong(row -> row.integer("last_rank") - row.integer("first_rank") + 1).sum();
        long all = jobs.values().stream().mapToLong(runs -> runs.getFirst().integer("world_size")).sum();
        page.paragraph("  not recorded: ", String.format(Locale.ROOT, "%,d of %,d ranks: ", ranks, all)
                + jobs.entrySet().stream()
                        .limit(MOST_RUNS)
                        .map(job -> runs(job.getValue()) + (jobs.size() == 1 ? "" : " of job " + job.getKey()))
                        .collect(Collectors.joining("; "))
                + more(jobs.size() - MOST_RUNS));
    }

    private static String runs(List<Table.Row> runs) {
        return runs.stream()
                        .limit(MOST_RUNS)
                        .map(row -> row.integer("first_rank") == row.integer("last_rank")
                                ? row.text("first_rank")
                                : row.text("first_rank") + " to " + row.text("last_rank"))
                        .collect(Collectors.joining(", "))
                + more(runs.size() - MOST_RUNS);
    }

    private static String more(int number) {
        return number > 0 ? " and " + number + " more" : "";
    }

    private static String count(int number, String what) {
        return String.format(Locale.ROOT, "%,d %s%s", number, what, number == 1 ? "" : "s");
    }

    /// The mean step of all ranks, and that of the rank with the longest.
    private void steps(Fleet fleet) {
        List<Table.Row> ranks = fleet.ranks().rows();
        if (ranks.isEmpty()) {
            return;
        }
        StringBuilder head = new StringBuilder(String.format(Locale.ROOT, "  %-22s%12s", "", "mean step"));
        PHASES.values().forEach(phase -> head.append(String.format(Locale.ROOT, "%10s", phase)));
        page.line(page.dim(head.toString()));
        page.line("  " + String.format(Locale.ROOT, "%-22s", "all ranks") + parts(ranks));
        Table.Row slowest = ranks.stream().max(Comparator.comparingDouble(row -> real(row, "step_ns"))).orElseThrow();
        page.line("  " + page.fit(String.format(Locale.ROOT, "%-22s", "longest: " + HeatMap.label(slowest)), 22) + parts(List.of(slowest)));
    }

    private static String parts(List<Table.Row> ranks) {
        double step = mean(ranks, "step_ns");
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%12s", Quantity.time(step)));
        PHASES.keySet().forEach(phase ->
                line.append(String.format(Locale.ROOT, "%10s", Quantity.percent(mean(ranks, phase) / Math.max(1, step)))));
        return line.toString();
    }

    private static double mean(List<Table.Row> ranks, String column) {
        return ranks.stream().mapToDouble(row -> real(row, column)).average().orElse(0);
    }

    private static double real(Table.Row row, String column) {
        return Objects.requireNonNullElse(row.real(column), 0.0);
    }

    private void findings(Fleet fleet) {
        page.blank();
        if (fleet.counts().isEmpty()) {
            page.heading("Findings: none");
        } else {
            page.heading("Findings, most lost time first");
        }
        int number = 1;
        for (Fleet.Count count : fleet.counts().stream().limit(MOST_FINDINGS).toList()) {
            Finding worst = count.finding();
            page.line(String.format(Locale.ROOT, "%2d ", number) + page.severity(worst.severity(), String.format(Locale.ROOT, "%-6s", worst.severity()))
                    + " " + page.bold(worst.title()));
            String often = count.times() == 1
                    ? ""
                    : String.format(Locale.ROOT, "%,d times in %s%s; worst: ", count.times(), count(count.recordings().size(), "recording"), median(count));
            page.paragraph("   ", often + worst.subject() + ": " + FindingWords.amount(worst) + FindingWords.gain(worst));
            if (number == 1) {
                page.paragraph("   why   ", worst.evidence());
                page.paragraph("   try   ", worst.advice());
            }
            number++;
        }
        List<Fleet.Count> others = fleet.counts().stream().skip(MOST_FINDINGS).toList();
        if (!others.isEmpty()) {
            page.paragraph("and " + others.size() + " more: ", others.stream()
                    .map(count -> count.finding().title().replaceFirst("\\.$", ""))
                    .collect(Collectors.joining("; ")));
        }
        if (!fleet.report().diagnosis().skipped().isEmpty()) {
            page.paragraph("   ", fleet.report().diagnosis().skippedText());
        }
    }

    private static String median(Fleet.Count count) {
        Double nanos = count.medianLostNanos();
        return nanos == null ? "" : ", " + Quantity.time(nanos) + " per step in the median";
    }

    /// A row for each place on a machine, a column for each machine, or for as many as share one; the latest counts.
    private void heat(HeatMap map) {
        if (map.places() == 0) {
            return;
        }
        page.blank();
        int columns = Math.min(map.nodes().size(), Math.max(1, page.width() - MARGIN));
        int each = (map.nodes().size() + columns - 1) / columns;
        page.heading("How late ranks come: a column for each " + (each == 1 ? "machine" : each + " machines")
                + ", a row for each place on them");
        List<List<HeatMap.Node>> groups = new ArrayList<>();
        for (int from = 0; from < map.nodes().size(); from += each) {
            groups.add(map.nodes().subList(from, Math.min(map.nodes().size(), from + each)));
        }
        for (int place = 0; place < Math.min(map.places(), MOST_PLACES); place++) {
            int at = place;
            page.line(String.format(Locale.ROOT, "  %6d  ", place)
                    + groups.stream().map(group -> mark(group, at)).collect(Collectors.joining()));
        }
        if (map.places() > MOST_PLACES) {
            page.line("          and " + (map.places() - MOST_PLACES) + " more places: --html shows all");
        }
        if (map.nodes().stream().anyMatch(HeatMap.Node::named)) {
            page.line(String.format(Locale.ROOT, "  %6s  ", "named")
                    + groups.stream().map(group -> group.stream().anyMatch(HeatMap.Node::named) ? "^" : " ").collect(Collectors.joining()));
        }
        page.line(page.dim("          " + (page.unicode() ? "· in time  ▒ late by 2 % of a step  █ by 10 %" : ". in time  o late by 2 % of a step  # by 10 %")
                + "  ^ named by a finding"));
    }

    private String mark(List<HeatMap.Node> group, int place) {
        HeatMap.Level latest = group.stream()
                .filter(node -> place < node.ranks().size())
                .map(node -> node.ranks().get(place).level())
                .max(Comparator.naturalOrder())
                .orElse(null);
        if (latest == null) {
            return " ";
        }
        return switch (latest) {
            case IN_TIME -> page.unicode() ? "·" : ".";
            case LATE -> page.colour(33, page.unicode() ? "▒" : "o");
            case VERY_LATE -> page.severity("high", page.unicode() ? "█" : "#");
        };
    }

    /// The ranks that come latest; those that come in time are not worth a line.
    private void worst(Fleet fleet) {
        List<Table.Row> late = fleet.ranks().rows().stream()
                .filter(row -> real(row, "lag_ns") >= 0.02 * real(row, "step_ns"))
                .sorted(Comparator.comparingDouble((Table.Row row) -> real(row, "lag_ns")).reversed())
                .toList();
        if (late.isEmpty()) {
            return;
        }
        page.blank();
        page.heading(late.size() > MOST_RANKS
                ? String.format(Locale.ROOT, "The %d latest ranks of %,d that come late", MOST_RANKS, late.size())
                : "Ranks that come late");
        page.line(page.dim(String.format(Locale.ROOT, "  %-14s%-24s%8s%12s%12s%8s  %s", "rank", "host", "pid", "late, p50", "mean step", "last", "cause")));
        for (Table.Row row : late.stream().limit(MOST_RANKS).toList()) {
            page.line(String.format(
                    Locale.ROOT,
                    "  %-14s%-24s%8d%12s%12s%8s  %s",
                    HeatMap.label(row),
                    page.fit(Objects.requireNonNullElse(row.text("host"), "-"), 23),
                    row.integer("pid"),
                    Quantity.time(real(row, "lag_ns")),
                    Quantity.time(real(row, "step_ns")),
                    Quantity.count(row.integer("times_last")),
                    Objects.requireNonNullElse(row.text("cause"), "not known")));
        }
    }
}
