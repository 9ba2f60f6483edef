package io.dyber.zernel.analyze.report.table;

import io.dyber.zernel.analyze.duckdb.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Aligned columns; the widest text column gives way where the page is too narrow.
///
/// One row that is too wide has its columns below each other, and a table of none only names its columns. Of several,
/// what is the same in all is said once, below; raw ones leave out the columns that are empty, and the last ones, and say so.
///
/// @param page where it goes
/// @param human whether `_ns`, `_bytes` and `share` columns are shown with units; raw numbers otherwise
public record TextTable(Page page, boolean human) implements TableFormat {
    private static final Set<String> NUMBERS = Set.of(
            "BIGINT", "INTEGER", "SMALLINT", "TINYINT", "HUGEINT", "UBIGINT", "UINTEGER", "DOUBLE", "FLOAT");
    private static final int NARROWEST = 20;

    @Override
    public void write(Table whole) {
        if (whole.columns().isEmpty()) {
            return;
        }
        Table table = human ? withoutOnlyRecording(whole) : whole;
        List<List<String>> cells = new ArrayList<>();
        cells.add(table.columns().stream().map(column -> header(column.name())).toList());
        for (Table.Row row : table.rows()) {
            List<String> line = new ArrayList<>();
            for (int i = 0; i < table.columns().size(); i++) {
                line.add(cell(table.columns().get(i).name(), row.values().get(i)));
            }
            cells.add(line);
        }
        int least = human ? total(natural(cells)) : least(natural(cells), table.columns());
        if (least <= page.width()) {
            rows(cells, table.columns());
        } else if (cells.size() == 1) {
            page.paragraph("", String.join("  ", cells.getFirst()));
        } else if (cells.size() == 2) {
            oneRow(cells);
        } else if (human) {
            withoutWhatIsTheSame(cells, table.columns());
        } else {
            asManyAsFit(cells, table.columns());
        }
    }

    /// The width when texts are cut as far as may be.
    private static int least(int[] widths, List<Table.Column> columns) {
        int[] least = widths.clone();
        for (int i = 0; i < least.length; i++) {
            least[i] = NUMBERS.contains(columns.get(i).type()) ? least[i] : Math.min(NARROWEST, least[i]);
        }
        return total(least);
    }

    /// Without the columns that are empty in all rows, and then without the last ones; says which.
    private void asManyAsFit(List<List<String>> cells, List<Table.Column> columns) {
        List<Integer> kept = new ArrayList<>();
        List<String> left = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            int column = i;
            if (cells.stream().skip(1).anyMatch(line -> !line.get(column).equals("-"))) {
                kept.add(i);
            }
        }
        int empty = columns.size() - kept.size();
        while (kept.size() > 1 && least(natural(only(cells, kept)), only(List.of(columns), kept).getFirst()) > page.width()) {
            left.addFirst(columns.get(kept.removeLast()).name());
        }
        rows(only(cells, kept), only(List.of(columns), kept).getFirst());
        String more = left.isEmpty() ? "" : "no room for " + String.join(", ", left);
        String none = empty == 0 ? "" : empty + " column" + (empty == 1 ? "" : "s") + " without a value";
        page.paragraph("", "(" + more + (more.isEmpty() || none.isEmpty() ? "" : "; ") + none + "; --csv and --json print all)");
    }

    private static <T> List<List<T>> only(List<List<T>> lines, List<Integer> kept) {
        return lines.stream().map(line -> kept.stream().map(line::get).toList()).toList();
    }

    private void rows(List<List<String>> cells, List<Table.Column> columns) {
        int[] widths = widths(cells, columns);
        for (int i = 0; i < cells.size(); i++) {
            String line = line(cells.get(i), widths, columns);
            page.line(i == 0 ? page.bold(line) : line);
        }
    }

    private void oneRow(List<List<String>> cells) {
        int longest = cells.getFirst().stream().mapToInt(String::length).max().orElse(0);
        for (int i = 0; i < cells.getFirst().size(); i++) {
            page.line(page.bold(cells.getFirst().get(i)) + " ".repeat(longest - cells.getFirst().get(i).length() + 2)
                    + cells.getLast().get(i));
        }
    }

    private void withoutWhatIsTheSame(List<List<String>> cells, List<Table.Column> columns) {
        List<Integer> kept = new ArrayList<>();
        List<String> same = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            int column = i;
            String first = cells.get(1).get(i);
            if (cells.stream().skip(1).anyMatch(line -> !line.get(column).equals(first))) {
                kept.add(i);
            } else if (!first.isEmpty() && !first.equals("-")) {
                same.add((cells.getFirst().get(i) + " " + first).replace(' ', '\u00A0'));
            }
        }
        if (kept.isEmpty()) {
            rows(cells, columns);
            return;
        }
        rows(
                cells.stream().map(line -> kept.stream().map(line::get).toList()).toList(),
                kept.stream().map(columns::get).toList());
        if (!same.isEmpty()) {
            page.paragraph("in all rows: ", String.join(", ", same));
        }
    }

    /// Where there is one recording, its number says nothing.
    public static Table withoutOnlyRecording(Table table) {
        boolean first = table.columns().getFirst().name().equals("recording");
        if (!first || table.rows().stream().anyMatch(row -> row.integer("recording") != 0)) {
            return table;
        }
        List<Table.Column> columns = table.columns().subList(1, table.columns().size());
        List<Table.Row> rows = table.rows().stream()
                .map(row -> new Table.Row(Map.of(), row.values().subList(1, row.values().size())))
                .toList();
        return new Table(columns, rows);
    }

    private String header(String column) {
        return human ? column.replaceFirst("_(ns|bytes)$", "") : column;
    }

    private String cell(String column, @Nullable Object value) {
        return switch (value) {
            case null -> "-";
            case Number number when human -> Quantity.ofColumn(column, number);
            default -> value.toString().replaceAll("\\s+", " ");
        };
    }

    private int[] widths(List<List<String>> cells, List<Table.Column> columns) {
        int[] widths = natural(cells);
        int total = total(widths);
        while (total > page.width()) {
            int widest = widestText(widths, columns);
            if (widest < 0) {
                break;
            }
            int cut = Math.min(total - page.width(), widths[widest] - NARROWEST);
            // Cut at most to the next widest, so that several long columns share the loss.
            cut = Math.min(cut, Math.max(1, widths[widest] / 4));
            widths[widest] -= cut;
            total -= cut;
        }
        return widths;
    }

    private static int[] natural(List<List<String>> cells) {
        int[] widths = new int[cells.getFirst().size()];
        for (List<String> line : cells) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        return widths;
    }

    private static int total(int[] widths) {
        return 2 * (widths.length - 1) + IntStream.of(widths).sum();
    }

    private static int widestText(int[] widths, List<Table.Column> columns) {
        int widest = -1;
        for (int i = 0; i < widths.length; i++) {
            boolean text = !NUMBERS.contains(columns.get(i).type());
            if (text && widths[i] > NARROWEST && (widest < 0 || widths[i] > widths[widest])) {
                widest = i;
            }
        }
        return widest;
    }

    private String line(List<String> cells, int[] widths, List<Table.Column> columns) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = page.fit(cells.get(i), widths[i]);
            String padding = " ".repeat(Math.max(0, widths[i] - cell.length()));
            boolean right = NUMBERS.contains(columns.get(i).type());
            line.append(i == 0 ? "" : "  ").append(right ? padding + cell : cell + padding);
        }
        return line.toString().stripTrailing();
    }
}
