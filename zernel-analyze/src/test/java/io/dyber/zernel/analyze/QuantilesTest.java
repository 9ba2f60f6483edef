package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Quantiles of a histogram against exact ones.
final class QuantilesTest {
    private static final String SHARES = "[0.0, 0.5, 0.9, 0.99, 0.999, 1.0]";
    private static final DatabaseOptions OPTIONS = new DatabaseOptions(1, "256MB", Path.of("target"));

    private final DuckDb duckDb = DuckDb.open(OPTIONS);

    @BeforeEach
    void replaceExactOnes() {
        duckDb.execute(SqlLibrary.histogram());
    }

    @AfterEach
    void close() {
        duckDb.close();
    }

    @Test
    void histogramsAreWithinOnePercent() {
        duckDb.execute("CREATE TABLE durations AS SELECT g, CAST(exp(g + 2.0 * random() * g) AS BIGINT) AS ns "
                + "FROM range(1, 15) AS groups(g), range(2000)");
        Table table = duckDb.query("SELECT unnest(quantiles(ns, " + SHARES + ")) AS near, unnest(quantile_cont(ns, "
                + SHARES + ")) AS exact FROM durations GROUP BY g");
        assertThat(table.rows()).hasSize(14 * 6).allSatisfy(row ->
                assertThat(row.real("near")).isCloseTo(row.real("exact"), Percentage.withPercentage(0.79)));
    }

    @Test
    void smallDurationsAreExact() {
        assertThat(quantiles("VALUES (0), (3), (3), (127)")).isEqualTo(List.of(0.0, 3.0, 89.8, 123.28, 126.628, 127.0));
    }

    @Test
    void aGroupWithoutDurationsHasNoQuantiles() {
        assertThat(duckDb.query("SELECT quantiles(ns, " + SHARES + ")[2] IS NULL AS none FROM (SELECT NULL::BIGINT AS ns)")
                        .only()
                        .flag("none"))
                .isTrue();
    }

    @Test
    void histogramsAreForWhatDoesNotFit() {
        assertThat(Database.exactQuantilesFit(60_000_000, 2_000_000_000L)).isTrue();
        assertThat(Database.exactQuantilesFit(70_000_000, 2_000_000_000L)).isFalse();
        assertThat(Database.exactQuantilesFit(50_000_000, 512_000_000)).isFalse();
        assertThat(Database.exactQuantilesFit(10_000_000, 512_000_000)).isTrue();
    }

    private @Nullable Object quantiles(String values) {
        return duckDb.query("SELECT quantiles(ns, " + SHARES + ") AS q FROM (" + values + ") AS t(ns)")
                .only()
                .value("q");
    }
}
