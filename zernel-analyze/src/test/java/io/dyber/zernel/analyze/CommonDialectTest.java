package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The views that Spark runs too are written so that it can, which needs no Spark to tell.
class CommonDialectTest {
    @Test
    void viewsThatSparkRunsAreInTheCommonDialect() {
        List<SqlObject> common = SqlLibrary.builtIn().objects().stream().filter(SqlObject::isCommon).toList();
        assertThat(common).extracting(SqlObject::name).containsExactly(
                "_arrivals",
                "_clock_offsets",
                "_middle_arrivals",
                "_step_counts",
                "collective_arrivals",
                "finding_counts",
                "host_clocks",
                "host_paces",
                "rank_arrivals",
                "rank_outliers",
                "rank_paces");
        assertThat(common).allSatisfy(
                object -> assertThat(CommonDialect.breaches(object, SqlLibrary.builtIn())).as(object.name()).isEmpty());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "a::BIGINT AS b FROM steps | '::'",
        "a // 2 AS b FROM steps | '//'",
        "a[1] AS b FROM steps | '['",
        "list_max(x -> 1) AS b FROM steps | '->'",
        "\"a\" FROM steps | is a text and no name",
        "arg_max(a, b) AS c FROM steps | max_by",
        "any_value(a) AS c FROM steps | min or max",
        "* EXCLUDE (a) FROM steps | the columns by name",
        "a FROM steps ASOF JOIN steps AS b ON TRUE | 'asof'",
        "a FROM steps QUALIFY row_number() OVER (ORDER BY a) = 1 | a subquery",
        "count(*) FILTER (a) AS b FROM steps | FILTER (WHERE ...)",
        "sum(a) OVER w AS b FROM steps | in OVER (...)",
        "a FROM (FROM steps) | SELECT before FROM",
        "CAST(a AS VARCHAR) AS b FROM steps | STRING",
        "speedup(a, b) AS c FROM steps | the macro 'speedup'",
        "a FROM reads | neither in digests",
    })
    void whatOnlyDuckDbKnowsIsTold(String select, String breach) {
        String needs = select.contains("reads") ? "reads" : "steps";
        SqlObject view = SqlObject.parse(
                "v", SqlObject.Role.VIEW, "-- A view.\n--\n-- needs: " + needs + "\n-- dialect: common\nCREATE VIEW v AS\nSELECT " + select, "v.sql", 1);
        assertThat(CommonDialect.breaches(view, SqlLibrary.builtIn())).singleElement().asString().contains(breach);
    }

    @Test
    void otherViewsMaySayWhatTheyLike() {
        SqlObject view = SqlObject.parse("v", SqlObject.Role.VIEW, "-- A view.\n--\n-- needs: steps\nCREATE VIEW v AS\nSELECT a::BIGINT AS a FROM steps", "v.sql", 1);
        assertThat(CommonDialect.breaches(view, SqlLibrary.builtIn())).isEmpty();
    }
}
