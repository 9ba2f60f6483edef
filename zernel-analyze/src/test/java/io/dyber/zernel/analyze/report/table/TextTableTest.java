package io.dyber.zernel.analyze.report.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.duckdb.Table;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TextTableTest {
    private static final List<Table.Column> COLUMNS = List.of(
            new Table.Column("pid", "BIGINT"), new Table.Column("dur_ns", "BIGINT"), new Table.Column("why", "VARCHAR"));

    @Test
    void aTableThatFitsHasAllColumns() {
        assertThat(text(40, true, row(7, 1_500, "a"), row(7, 2_500, "a"))).isEqualTo("""
                pid      dur  why
                  7  1.50 us  a
                  7  2.50 us  a
                """);
    }

    @Test
    void whatIsTheSameInAllRowsIsSaidOnceWhereATableIsTooWide() {
        assertThat(text(16, true, row(7, 1_500, "a"), row(7, 2_500, "a"))).isEqualTo("""
                    dur
                1.50 us
                2.50 us
                in all rows: pid 7,
                             why a
                """);
    }

    @Test
    void oneRowThatIsTooWideHasItsColumnsBelowEachOther() {
        assertThat(text(16, true, row(7, 1_500, "a"))).isEqualTo("""
                pid  7
                dur  1.50 us
                why  a
                """);
    }

    @Test
    void oneRawRowThatIsTooWideHasThemToo() {
        assertThat(text(12, false, row(7, 1_500, "a"))).isEqualTo("""
                pid     7
                dur_ns  1500
                why     a
                """);
    }

    @Test
    void rawColumnsForWhichThereIsNoRoomAreNamed() {
        assertThat(text(12, false, row(7, 1_500, "a"), row(7, 2_500, "a"))).isEqualTo("""
                pid  dur_ns
                  7    1500
                  7    2500
                (no room for
                why; --csv
                and --json
                print all)
                """);
    }

    @Test
    void noRowThatIsTooWideNamesItsColumnsWithinThePage() {
        assertThat(text(10, true)).isEqualTo("""
                pid  dur
                why
                """);
    }

    @Test
    void rawTablesKeepTheirColumns() {
        assertThat(text(16, false, row(7, 1_500, "a"), row(7, 2_500, "a"))).isEqualTo("""
                pid  dur_ns  why
                  7    1500  a
                  7    2500  a
                """);
    }

    private static Table.Row row(long pid, long nanos, String why) {
        return new Table.Row(Map.of("pid", 0, "dur_ns", 1, "why", 2), List.of(pid, nanos, why));
    }

    private static String text(int width, boolean human, Table.Row... rows) {
        StringWriter text = new StringWriter();
        new TextTable(new Page(new PrintWriter(text), width, false, true), human).write(new Table(COLUMNS, List.of(rows)));
        return text.toString();
    }
}
