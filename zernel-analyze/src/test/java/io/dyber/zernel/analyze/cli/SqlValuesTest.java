package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.TimeZone;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/// How `sql` prints values of any type.
class SqlValuesTest {
    @TempDir
    static Path folder;

    static String file = "";

    @BeforeAll
    static void record() {
        file = recording().region("a", 1, 2).write(folder.resolve("run.parquet")).toString();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
        "{'a': 1, 'b': NULL}                                    | {`a`: 1, `b`: null}",
        "[{'a': [1.5, NULL]}, NULL]                             | [{`a`: [1.5, null]}, null]",
        "map {2: {'on': DATE '2026-01-02'}, 1: NULL}            | {`2`: {`on`: `2026-01-02`}, `1`: null}",
        "[TRUE, FALSE]                                          | [true, false]",
        "[1, 2]::INTEGER[2]                                     | [1, 2]",
        "{'a \"b\"': 'c\\d'}                                    | {`a \\`b\\``: `c\\\\d`}",
        "CAST(NULL AS STRUCT(a BIGINT))                         | null",
        "TIMESTAMP '2026-01-02 03:04:05.678901'                 | `2026-01-02 03:04:05.678901`",
        "TIMESTAMP '2026-01-02 03:04:05'                        | `2026-01-02 03:04:05`",
        "TIMESTAMP_NS '2026-01-02 03:04:05.000000001'           | `2026-01-02 03:04:05.000000001`",
        "'{\"a\": [1, null, \"b\"]}'::JSON                        | {`a`: [1, null, `b`]}",
        "'\"text\"'::JSON                                       | `text`",
        "CAST(NULL AS JSON)                                     | null",
        "INTERVAL '1 day 2 hours'                               | `1 day 02:00:00`",
        "'a\\x00\\xFF'::BLOB                                    | `a\\\\x00\\\\xFF`",
        "170141183460469231731687303715884105727::HUGEINT       | 170141183460469231731687303715884105727",
        "18446744073709551615::UBIGINT                          | 18446744073709551615",
        "sum(9223372036854775807) FILTER (TRUE)                 | 9223372036854775807",
        "12345678901234567890.123456789::DECIMAL(38, 9)         | 12345678901234567890.123456789",
        "1.50                                                   | 1.5",
        "['NaN'::DOUBLE, 'infinity'::DOUBLE, 1]                 | [null, null, 1.0]",
    })
    void jsonHoldsValuesNotTheirText(String expression, String json) {
        Outcome outcome = Outcome.of("sql", "--json", file, "SELECT " + expression + " AS v");
        assertThat(outcome.out()).as(outcome.err()).isEqualTo("[\n  {\"v\": " + json.replace('`', '"') + "}\n]\n");
        assertThat(new JsonMapper().readTree(outcome.out()).path(0).has("v")).isTrue();
    }

    @Test
    void timesExistWhereAClockSkipsThem() {
        TimeZone usual = TimeZone.getDefault();
        try {
            TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
            assertThat(Outcome.of("sql", "--csv", file, "SELECT TIMESTAMP '2026-03-29 02:30:00.5' AS v").out())
                    .isEqualTo("v\n2026-03-29 02:30:00.5\n");
        } finally {
            TimeZone.setDefault(usual);
        }
    }

    @Test
    void textAndCsvStayReadable() {
        String query = "SELECT {'a': 1, 'b': ['x', NULL]} AS s, map {'k': encode('é')} AS m, 7::HUGEINT AS h, 'inf'::FLOAT AS i";
        assertThat(Outcome.of("sql", "--csv", file, query).out())
                .isEqualTo("s,m,h,i\n\"{a=1, b=[x, null]}\",{k=\\xC3\\xA9},7,Infinity\n");
        assertThat(Outcome.of("sql", file, query).out()).contains("{a=1, b=[x, null]}  {k=\\xC3\\xA9}  ");
    }
}
