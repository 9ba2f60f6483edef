package io.dyber.zernel.analyze.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class WhatIfCommandTest {
    @TempDir
    Path folder;

    /// Four replicas of one stage, of which the last takes twice as long.
    private String fourRanks(int slow) {
        Path file = folder.resolve("operations.parquet");
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            duckDb.execute(
                    """
                    COPY (
                        SELECT dp_rank, 0 AS stage, dp_rank AS rank, 1 AS step, optype, began AS start_ts,
                            took * CASE WHEN dp_rank = 3 AND optype LIKE '%%compute' THEN %d ELSE 1 END AS duration,
                            0 AS seq_id, 0 AS mc, 0 AS mb_id, 0 AS gmc
                        FROM range(4) AS ranks(dp_rank)
                        CROSS JOIN (VALUES
                            ('forward-compute', 0.0, 1.0), ('backward-compute', 2.0, 2.0), ('grads-reduce-scatter', 6.0, 0.5),
                            ('optimizer', 6.5, 0.5)
                        ) AS operations(optype, began, took)
                    ) TO '%s'
                    """
                            .formatted(slow, file));
        }
        return file.toString();
    }

    @Test
    void textSaysWhatStragglersCostAndWhoTheyAre() {
        Outcome outcome = Outcome.of("whatif", "--width", "120", "--top", "1", fourRanks(2));
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out().lines()).containsExactly(
                "4 ranks, 1 step, 16 operations",
                "",
                "Stragglers make steps 1.47x as long: 7.00 s, 4.75 s if each operation took what its peers take",
                "  the worst 3 % of ranks (rank 3) explain 100 % of it (m_w); were they like the others, steps would be 1.75x as fast",
                "  steps took 7.00 s as recorded; replayed without gaps between operations they take 0.0 % less",
                "",
                "by         name              slowdown    share",
                "rank       3                    1.474  100.0 %",
                "dp_rank    3                    1.474  100.0 %",
                "stage      0                    1.474  100.0 %",
                "operation  backward-compute     1.316   66.7 %");
    }

    @Test
    void ranksThatAreAlikeAreNoStragglers() {
        Outcome outcome = Outcome.of("whatif", fourRanks(1));
        assertThat(outcome.out())
                .contains("No stragglers: with all ranks alike, steps take 4.00 s, not 4.00 s (1.00x)")
                .contains("replayed without gaps between operations they take 42.9 % less");
    }

    @Test
    void jsonHasAllNumbers() {
        JsonNode json = JsonMapper.shared().readTree(Outcome.of("whatif", "--json", fourRanks(2)).out());
        assertThat(json.path("slowdown").asDouble()).isEqualTo(1.4737);
        assertThat(json.path("m_w").asDouble()).isEqualTo(1);
        assertThat(json.path("m_s").isNull()).isTrue();
        assertThat(json.path("replayed_ns").asLong()).isEqualTo(7_000_000_000L);
        assertThat(json.path("worst_ranks").toString()).isEqualTo("[\"3\"]");
        assertThat(json.path("shares").path(0).toString())
                .isEqualTo("{\"by\":\"rank\",\"name\":\"3\",\"slowdown\":1.4737,\"share\":1.0}");
    }

    @Test
    void aRecordingIsNamedAsWhatItIsNot() {
        String run = RecordingFixture.recording().training(3, 5).write(folder.resolve("run.parquet")).toString();
        Outcome outcome = Outcome.of("whatif", run);
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err().lines()).containsExactly(
                "zernel-analyze: replaying '" + run + "': not a Parquet file of operations with the columns dp_rank, stage, rank, step, optype, ...",
                "hint: docs/what-if.md lists them; of recordings, 'zernel-analyze report' says which rank is late and why");
        assertThat(Outcome.of("whatif").status()).isEqualTo(2);
    }
}
