package io.dyber.zernel.record.attach;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.attach.Overhead.Hits;
import io.dyber.zernel.record.attach.Overhead.SystemCallHits;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import java.util.List;
import org.junit.jupiter.api.Test;

final class OverheadTest {
    private static final CallCost COST =
            new CallCost(
                    new CallCost.Price(1_000, 400),
                    new CallCost.Price(5_000, 3_000),
                    new CallCost.Price(9_000, 5_600),
                    "by hand");
    private static final SystemCallCost SYSTEM_CALLS = new SystemCallCost(630.04, 430, 350, "by hand too");

    private final Schema schema = CompiledPrograms.schema(List.of());
    private final StringDictionary texts = new StringDictionary();

    private Overhead overhead(CallCost cost) {
        return new Overhead(cost, SYSTEM_CALLS, schema, texts);
    }

    private Batch batch(String... kindsAndPids) {
        Batch batch = new Batch(schema.columns(), 1_000);
        for (String row : kindsAndPids) {
            String[] part = row.split(" ");
            batch.addRow(texts.id(part[0]));
            batch.put(schema.index("kind"), texts.id(part[0]));
            if (part.length > 1) {
                batch.put(schema.index("pid"), Long.parseLong(part[1]));
            }
        }
        return batch;
    }

    @Test
    void aCallCostsWhatWasMeasuredAndHalfOfItWithoutItsReturn() {
        Hits hits = Hits.NO
                .plus(new long[] {1_000, 100, 0, 0, 0, 50}, Site.End.RETURN, 1, 0, COST)
                .plus(new long[] {10, 0, 0, 0, 0, 0}, Site.End.NOT_SEEN, 1, 0, COST);
        assertThat(hits).isEqualTo(new Hits(1_010, 0, 150, 855_000, 60_000));
        Footer.Overhead described = overhead(COST).describe(hits, SystemCallHits.NO);
        assertThat(described.costNsPerHit()).isEqualTo(1_000.0);
        assertThat(described.costNsPerCountedHit()).isEqualTo(400.0);
        assertThat(described.method()).isEqualTo("by hand");
        assertThat(described.hits()).isEqualTo(1_010);
        assertThat(described.countedHits()).isEqualTo(150);
        assertThat(described.cpuNsTotal()).isEqualTo(915_000);
    }

    @Test
    void aCallOfAFunctionThatIsProbedWhereItIsLeftHasItsOwnPrice() {
        Hits hits = Hits.NO
                .plus(new long[] {100, 0, 0, 0, 0, 0}, Site.End.RETURN, 1, 0, COST)
                .plus(new long[] {30, 10, 0, 0, 0, 0}, Site.End.EXITS, 1, 0, COST);
        Footer.Overhead described = overhead(COST).describe(hits, SystemCallHits.NO);
        assertThat(described.costNsPerLeftHit()).isEqualTo(5_000.0);
        assertThat(described.costNsPerCountedLeftHit()).isEqualTo(3_000.0);
        assertThat(described.hits()).isEqualTo(130);
        assertThat(described.leftHits()).isEqualTo(30);
        assertThat(described.countedHits()).isEqualTo(10);
        assertThat(described.cpuNsTotal()).isEqualTo(100_000 + 100_000 + 30_000);
    }

    @Test
    void aDebugTrapAtTheEntryIsPaidInEachCall() {
        Hits hits = Hits.NO
                .plus(new long[] {100, 0, 0, 0, 0, 0}, Site.End.RETURN, 1, 1, COST)
                .plus(new long[] {30, 10, 0, 0, 0, 0}, Site.End.NOT_SEEN, 1, 1, COST);
        // A trap takes 5600 - 3000 ns.
        assertThat(hits).isEqualTo(new Hits(130, 0, 10, 100 * 3_600 + 20 * 3_100, 10 * 3_000));
    }

    @Test
    void theCallsOfEachProcessAreCountedMostFirst() {
        Overhead overhead = overhead(COST);
        // 7, 71 and 135 share a slot.
        overhead.add(batch("call 7", "call 71", "region 71", "call 135", "process 7", "lost", "call 7", "io 9", "call 71"));
        overhead.add(batch("backward 135", "nccl 135", "call 135"));
        assertThat(processes(overhead)).containsExactly("135 4", "71 3", "7 2");
    }

    private static List<String> processes(Overhead overhead) {
        return overhead.describe(Hits.NO, SystemCallHits.NO).processes().stream().map(row -> row.pid() + " " + row.events()).toList();
    }

    @Test
    void withoutAMeasurementThereIsNoPrice() {
        Footer.Overhead described = overhead(CallCost.unknown("no machine")).describe(new Hits(5, 0, 0, 0, 0), SystemCallHits.NO);
        assertThat(described.costNsPerHit()).isNull();
        assertThat(described.cpuNsTotal()).isNull();
        assertThat(described.method()).isEqualTo("no machine");
        assertThat(described.hits()).isEqualTo(5);
    }

    @Test
    void systemCallsHaveTheirOwnPricesAndCounts() {
        Footer.Overhead described = overhead(COST).describe(Hits.NO, new SystemCallHits(1_000, 200));
        assertThat(described.systemCalls())
                .isEqualTo(new Footer.SystemCallOverhead(630.0, 430.0, 350.0, "by hand too", 1_000, 200));
        assertThat(described.cpuNsTotal()).isZero();
    }

    @Test
    void withoutAMeasurementASystemCallHasNoPrice() {
        Overhead overhead = new Overhead(COST, SystemCallCost.unknown("no machine"), schema, texts);
        assertThat(overhead.describe(Hits.NO, new SystemCallHits(5, 1)).systemCalls())
                .isEqualTo(new Footer.SystemCallOverhead(null, null, null, "no machine", 5, 1));
    }
}
