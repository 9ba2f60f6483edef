package io.dyber.zernel.analyze.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.format.RecordingException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Two pipeline stages of two replicas whose times can be worked out by hand.
///
/// Each of two steps has one microbatch: forward on stage 0 (1 s), a send (0.1 s), forward and backward on stage 1 (1 s
/// and 2 s), a send back (0.1 s), backward on stage 0 (2 s), a reduction over the replicas (0.3 s) and the optimizer (0.2 s).
class WhatIfTest {
    @TempDir
    Path folder;

    @Test
    void ranksThatAreAlikeLoseNothing() {
        WhatIf alike = whatIf(1, "true");
        assertThat(alike.seconds()).isCloseTo(6.7, within(1e-4));
        assertThat(alike.replayed()).isCloseTo(6.7, within(1e-4));
        assertThat(alike.slowdown()).isCloseTo(1, within(1e-4));
        assertThat(alike.mw()).isNull();
        assertThat(alike.worst()).isEmpty();
        assertThat(alike.gain()).isEqualTo(1);
        assertThat(alike.left()).isEmpty();
    }

    /// Computes of replica 1 take twice as long on stage 1: 3 s more in each step, for which replica 0 waits.
    @Test
    void aSlowRankIsNamedWithWhatItCosts() {
        WhatIf slow = whatIf(2, "true");
        assertThat(slow.ranks()).isEqualTo(4);
        assertThat(slow.steps()).isEqualTo(2);
        assertThat(slow.replayed()).isCloseTo(9.7, within(1e-4));
        // Means over four ranks: forward 1.25 s, backward 2.5 s.
        assertThat(slow.ideal()).isCloseTo(0.2 + 2 * 1.25 + 2 * 2.5 + 0.5, within(1e-4));
        assertThat(slow.worst()).containsExactly("3");
        assertThat(slow.gain()).isCloseTo(9.7 / 6.7, within(1e-4));
        // With rank 3 at the means it needs 1.25 + 2.5 s on stage 1 and 1 + 2 s on stage 0.
        assertThat(slow.mw()).isCloseTo((9.7 - 7.45) / (9.7 - 8.2), within(1e-4));
        assertThat(slow.ms()).isCloseTo((9.7 - 7.45) / (9.7 - 8.2), within(1e-4));
        assertThat(slow.parts())
                .filteredOn(part -> part.by().equals("rank"))
                .extracting(WhatIf.Part::name)
                .first()
                .isEqualTo("3");
    }

    @Test
    void aGapBetweenOperationsIsNoStraggling() {
        WhatIf gaps = whatIf(1, "true", 0.5);
        assertThat(gaps.seconds()).isCloseTo(7.2, within(1e-4));
        assertThat(gaps.replayed()).isCloseTo(6.7, within(1e-4));
        assertThat(gaps.slowdown()).isCloseTo(1, within(1e-4));
    }

    @Test
    void aStepThatIsNotWholeIsLeftOutAndCounted() {
        WhatIf cut = whatIf(2, "NOT (step = 8 AND dp_rank = 1 AND row.stage = 0 AND row.optype = 'optimizer')");
        assertThat(cut.steps()).isEqualTo(1);
        assertThat(cut.left()).containsExactly("1 of 2 steps have other operations than most, and are left out");
    }

    /// The first step is the one that is cut.
    @Test
    void whatMostStepsHaveIsThePattern() {
        WhatIf cut = whatIf(2, "NOT (step = 7 AND dp_rank = 1 AND row.stage = 0 AND row.optype = 'optimizer')");
        assertThat(cut.steps()).isEqualTo(1);
        assertThat(cut.replayed()).isCloseTo(9.7, within(1e-4));
    }

    @Test
    void rowsThatCannotBeUsedAreCounted() {
        WhatIf damaged = whatIf(2, "true UNION ALL SELECT 0, 0, 0, 7, 'gc', NULL, 1, 0, 0, 0, 0");
        assertThat(damaged.steps()).isEqualTo(2);
        assertThat(damaged.left()).containsExactly("1 of 49 rows lack a place, a begin or a duration, and are left out");
    }

    @Test
    void ranksOfOnePlaceAreNamed() {
        assertThatThrownBy(() -> whatIf(1, "true UNION ALL SELECT 0, 0, 5, 7, 'optimizer', 1, 1, 0, 0, 0, 0"))
                .isInstanceOf(RecordingException.class)
                .hasMessageContaining("both have optimizer 0 of dp_rank 0, stage 0, step 7");
    }

    @Test
    void aStageThatIsMissingIsSaid() {
        assertThatThrownBy(() -> whatIf(1, "NOT (row.stage = 1 AND row.optype = 'forward-recv')"))
                .isInstanceOf(RecordingException.class)
                .hasMessage("matching sends and receives of pipeline stages: send 0 forward from stage 0 has 1 of 2 sides");
    }

    @Test
    void anotherFileIsNoTraceOfOperations() {
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            Path other = folder.resolve("other.parquet");
            duckDb.execute("COPY (SELECT 1 AS step) TO '" + other + "'");
            assertThat(WhatIf.reads(duckDb, other.toString())).isFalse();
            assertThat(WhatIf.reads(duckDb, folder.resolve("missing").toString())).isFalse();
        }
    }

    @Test
    void operationsThatWaitForEachOtherInACircleAreRefused() {
        Operations operations = new Operations();
        int step = operations.addStep();
        int first = operations.add(step, 0, false, 1, 1);
        int second = operations.add(step, 0, false, 1, first);
        assertThat(List.of(first, second)).containsExactly(0, 1);
        assertThatThrownBy(() -> new Replay(operations))
                .isInstanceOf(RecordingException.class)
                .hasMessage("replaying 2 operations: 2 of them wait for each other in a circle");
    }

    private WhatIf whatIf(int slow, String where) {
        return whatIf(slow, where, 0);
    }

    /// @param slow how many times as long computes of replica 1 take on stage 1
    /// @param where the rows that are in the file
    /// @param gap before the optimizer, in seconds, which no operation explains
    private WhatIf whatIf(int slow, String where, double gap) {
        Path file = folder.resolve("operations.parquet");
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            duckDb.execute(
                    """
                    COPY (
                        WITH
                            replicas AS (SELECT dp_rank, CASE dp_rank WHEN 1 THEN %d ELSE 1 END AS slow FROM range(2) AS r(dp_rank)),
                            rows AS (
                                SELECT dp_rank, unnest([
                                    {stage: 0, optype: 'forward-compute', began: 0, ended: 1},
                                    {stage: 0, optype: 'forward-send', began: 1, ended: 1.1},
                                    {stage: 1, optype: 'forward-recv', began: 0, ended: 1.1},
                                    {stage: 1, optype: 'forward-compute', began: 1.1, ended: 1.1 + slow},
                                    {stage: 1, optype: 'backward-compute', began: 1.1 + slow, ended: 1.1 + 3 * slow},
                                    {stage: 1, optype: 'backward-send', began: 1.1 + 3 * slow, ended: 1.2 + 3 * slow},
                                    {stage: 0, optype: 'backward-recv', began: 1.1, ended: 1.2 + 3 * slow},
                                    {stage: 0, optype: 'backward-compute', began: 1.2 + 3 * slow, ended: 3.2 + 3 * slow},
                                    {stage: 0, optype: 'grads-reduce-scatter', began: 3.2 + 3 * slow, ended: 3.5 + 3 * %d},
                                    {stage: 1, optype: 'grads-reduce-scatter', began: 1.1 + 3 * slow, ended: 1.4 + 3 * %d},
                                    {stage: 0, optype: 'optimizer', began: %s + 3.5 + 3 * %d, ended: %s + 3.7 + 3 * %d},
                                    {stage: 1, optype: 'optimizer', began: 1.4 + 3 * %d, ended: 1.6 + 3 * %d}
                                ]) AS row
                                FROM replicas
                            )
                        SELECT dp_rank, row.stage, 2 * dp_rank + row.stage AS rank, step, row.optype,
                            CAST(row.began + 100 * step AS DOUBLE) AS start_ts, CAST(row.ended - row.began AS DOUBLE) AS duration,
                            0 AS seq_id, 0 AS mc, 0 AS mb_id, row.stage AS gmc
                        FROM rows CROSS JOIN (VALUES (7), (8)) AS steps(step)
                        WHERE %s
                    ) TO '%s'
                    """
                            .formatted(slow, slow, slow, gap, slow, gap, slow, slow, slow, where, file));
            return WhatIf.of(duckDb, file.toString());
        }
    }
}
