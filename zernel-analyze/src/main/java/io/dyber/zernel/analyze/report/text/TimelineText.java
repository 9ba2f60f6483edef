package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.PhaseWords;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The phases of training threads over time: one character a bucket, coloured or a letter, with steps marked below.
///
/// @param page where it goes
/// @param beginNanos when the timeline begins, since the start of the recording
/// @param bucketNanos length of a bucket
public record TimelineText(Page page, long beginNanos, long bucketNanos) {
    private static final int LABEL = 18;
    /// A sample of a GPU speaks of the time before it, of so much at most.
    private static final long SAMPLE_NANOS = 1_000_000_000;
    private static final List<String> PHASES =
            List.of("DataLoading", "GpuCompute", "NcclCollective", "OptimizerStep", "Unknown");

    private record Line(long recording, @Nullable String pid, @Nullable String tid, @Nullable String device) {}

    /// The buckets that fit a page.
    public static int cells(Page page) {
        return page.width() - LABEL;
    }

    /// Writes a line per thread and GPU.
    ///
    /// @param buckets rows of a thread or a GPU and a bucket
    /// @param ranks the ranks of processes
    /// @param names what phases are called, rows of `phase_words`
    public void write(Table buckets, Table ranks, Table names) {
        PhaseWords words = new PhaseWords(names.rows());
        Map<Line, List<Table.Row>> lines = new LinkedHashMap<>();
        for (Table.Row row : buckets.rows()) {
            Line line = new Line(row.integer("recording"), row.text("pid"), row.text("tid"), row.text("device"));
            lines.computeIfAbsent(line, _ -> new ArrayList<>()).add(row);
        }
        boolean several = lines.keySet().stream().map(Line::recording).distinct().count() > 1;
        lines.forEach((line, rows) -> {
            String label = label(line, ranks, several);
            if (line.device() != null) {
                page.line(label + page.colour(36, cells(rows, this::spark, SAMPLE_NANOS / bucketNanos)));
            } else {
                page.line(label + cells(rows, row -> symbol(row.requiredText("phase"), words), 0));
                page.line(" ".repeat(LABEL) + page.dim(cells(rows, row -> marks(row.integer("steps")), 0)));
            }
        });
        if (lines.isEmpty()) {
            page.line("no training thread and no GPU was seen in this time");
            return;
        }
        axis();
        legend(words);
    }

    private interface Cell {
        String of(Table.Row row);
    }

    /// @param before how many empty buckets before a row it speaks of too
    private static String cells(List<Table.Row> rows, Cell cell, long before) {
        StringBuilder text = new StringBuilder();
        long next = 0;
        for (Table.Row row : rows) {
            long bucket = row.integer("bucket");
            if (bucket >= next) {
                int same = (int) Math.min(bucket - next, before);
                text.append(" ".repeat((int) (bucket - next) - same)).append(cell.of(row).repeat(same + 1));
                next = bucket + 1;
            }
        }
        return text.toString();
    }

    private String label(Line line, Table ranks, boolean several) {
        String text = several ? line.recording() + ": " : "";
        if (line.device() != null) {
            text += "GPU " + line.device() + " busy";
        } else {
            text += rank(line, ranks) + "pid " + line.pid();
            if (!String.valueOf(line.pid()).equals(line.tid())) {
                text += "/" + line.tid();
            }
        }
        return String.format("%-" + LABEL + "s", page.fit(text, LABEL - 1));
    }

    private static String rank(Line line, Table ranks) {
        for (Table.Row row : ranks.rows()) {
            if (row.integer("recording") == line.recording() && row.requiredText("pid").equals(line.pid())) {
                return "rank " + row.text("rank") + " ";
            }
        }
        return "";
    }

    /// A block of the phase's colour; without colours its first letter, and a dot for what is unknown.
    private String symbol(String phase, PhaseWords words) {
        if (page.colours() && page.unicode()) {
            return page.colour(TrainingText.colourOf(phase), "█");
        }
        return page.colour(TrainingText.colourOf(phase), letter(words.label(phase)));
    }

    private static String letter(String label) {
        return switch (label) {
            case "Unknown" -> ".";
            case "Collective" -> "c"; // next to Compute
            default -> label.substring(0, 1);
        };
    }

    private String spark(Table.Row row) {
        Double percent = row.real("gpu_percent");
        return page.sparkline(List.of(percent == null ? 0.0 : percent), 100, 1);
    }

    /// How many steps ended.
    private static String marks(long steps) {
        return steps == 0 ? " " : steps == 1 ? "|" : steps < 10 ? Long.toString(steps) : "+";
    }

    private void axis() {
        String begin = Quantity.time(beginNanos);
        String end = Quantity.time(beginNanos + bucketNanos * cells(page));
        page.line(" ".repeat(LABEL) + begin + " ".repeat(Math.max(1, cells(page) - begin.length() - end.length())) + end);
    }

    private void legend(PhaseWords words) {
        List<String> symbols = new ArrayList<>();
        for (String phase : PHASES) {
            symbols.add(symbol(phase, words) + " " + words.label(phase));
        }
        page.blank();
        page.line(String.join("  ", symbols) + "  | a step ends, 2 to 9 or + several do");
        page.line("one column is " + Quantity.time(bucketNanos) + ": the phase with the most time in it");
    }
}
