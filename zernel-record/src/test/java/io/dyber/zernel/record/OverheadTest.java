package io.dyber.zernel.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.Overhead.Hits;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.event.Texts;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class OverheadTest {
    private static final CallCost COST =
            new CallCost(new CallCost.Price(1_000, 400), new CallCost.Price(5_000, 3_000), "by hand");

    private final Schema schema = Programs.schema(List.of());
    private final Texts texts = new Texts();

    private Overhead overhead(CallCost cost) {
        return new Overhead(cost, schema, texts);
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
                .plus(new long[] {1_000, 100, 0, 0, 0, 50}, Site.End.RETURN, COST)
                .plus(new long[] {10, 0, 0, 0, 0, 0}, Site.End.NOT_SEEN, COST);
        assertThat(hits).isEqualTo(new Hits(1_010, 0, 150, 855_000, 60_000));
        Map<String, Object> described = overhead(COST).describe(hits);
        assertThat(described)
                .containsEntry("cost_ns_per_hit", 1_000.0)
                .containsEntry("cost_ns_per_counted_hit", 400.0)
                .containsEntry("method", "by hand")
                .containsEntry("hits", 1_010L)
                .containsEntry("counted_hits", 150L)
                .containsEntry("cpu_ns_total", 915_000L);
    }

    @Test
    void aCallOfAFunctionThatIsProbedWhereItIsLeftHasItsOwnPrice() {
        Hits hits = Hits.NO
                .plus(new long[] {100, 0, 0, 0, 0, 0}, Site.End.RETURN, COST)
                .plus(new long[] {30, 10, 0, 0, 0, 0}, Site.End.EXITS, COST);
        assertThat(overhead(COST).describe(hits))
                .containsEntry("cost_ns_per_left_hit", 5_000.0)
                .containsEntry("cost_ns_per_counted_left_hit", 3_000.0)
                .containsEntry("hits", 130L)
                .containsEntry("left_hits", 30L)
                .containsEntry("counted_hits", 10L)
                .containsEntry("cpu_ns_total", 100_000L + 100_000L + 30_000L);
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
        return ((List<?>) overhead.describe(Hits.NO).getOrDefault("processes", List.of()))
                .stream()
                        .map(row -> ((Map<?, ?>) row).get("pid") + " " + ((Map<?, ?>) row).get("events"))
                        .toList();
    }

    @Test
    void withoutAMeasurementThereIsNoPrice() {
        assertThat(overhead(CallCost.unknown("no machine")).describe(new Hits(5, 0, 0, 0, 0)))
                .containsEntry("cost_ns_per_hit", null)
                .containsEntry("cpu_ns_total", null)
                .containsEntry("method", "no machine")
                .containsEntry("hits", 5L);
    }
}
