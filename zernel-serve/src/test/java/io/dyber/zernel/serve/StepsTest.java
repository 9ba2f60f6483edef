package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StepsTest {
    private static final String NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    private static final String STEP = "Optimizer.step#AdamW.step";

    private final List<String> told = new ArrayList<>();
    private final Steps steps = new Steps((pid, start, end, phases) -> told.add(pid + " " + start + "-" + end + " "
            + phases));
    private final EventBatch batch = new EventBatch(4);

    @Test
    void aStepIsKnownWhenTheNextBatchIsAskedFor() {
        region(NEXT, 0, 30);
        region(STEP, 90, 10);
        assertThat(told).isEmpty();
        region(NEXT, 105, 30);
        assertThat(told).hasSize(1).first().asString().startsWith("7 0-100 ");
        region(STEP, 190, 10);
        steps.finish();
        assertThat(told).hasSize(2).last().asString().startsWith("7 100-200 ");
    }

    @Test
    void phasesAddUpToTheStepAndTheTimeBeforeBackwardIsForward() {
        region(NEXT, 0, 30);
        event("backward", "Engine::execute", 50, 20);
        region("Optimizer.zero_grad#AdamW.zero_grad", 75, 5);
        region(STEP, 90, 10);
        steps.finish();
        assertThat(told).containsExactly("7 0-100 {DATA_LOADING=30, GPU_COMPUTE=40, NCCL_COLLECTIVE=0, "
                + "OPTIMIZER_STEP=15, UNKNOWN=15}");
    }

    @Test
    void aClosureInsideTheOptimizerIsCompute() {
        region(NEXT, 0, 30);
        region(STEP, 40, 60);
        region("Optimizer.zero_grad#AdamW.zero_grad", 45, 5);
        event("backward", "Engine::execute", 60, 20);
        steps.finish();
        assertThat(told).containsExactly("7 0-100 {DATA_LOADING=30, GPU_COMPUTE=45, NCCL_COLLECTIVE=0, "
                + "OPTIMIZER_STEP=25, UNKNOWN=0}");
    }

    @Test
    void nestedCallsCountOnceAndForTheInnermost() {
        region(NEXT, 0, 10);
        region("DistributedDataParallel.forward", 10, 40);
        event("nccl", "ncclBroadcast", 20, 10);
        region(STEP, 50, 50);
        event("nccl", "ncclAllReduce", 60, 20);
        steps.finish();
        assertThat(told).containsExactly("7 0-100 {DATA_LOADING=10, GPU_COMPUTE=30, NCCL_COLLECTIVE=30, "
                + "OPTIMIZER_STEP=30, UNKNOWN=0}");
    }

    @Test
    void aRegionAroundTheWholeLoopIsNoCompute() {
        region("train", 0, 1000);
        region(NEXT, 10, 10);
        region(STEP, 90, 10);
        region(NEXT, 100, 10);
        assertThat(told).containsExactly("7 0-100 {DATA_LOADING=10, GPU_COMPUTE=0, NCCL_COLLECTIVE=0, "
                + "OPTIMIZER_STEP=10, UNKNOWN=80}");
    }

    @Test
    void optimizersWithoutANewBatchBetweenThemAreOneStep() {
        region(NEXT, 0, 10);
        region("Optimizer.step#SGD.step", 40, 10);
        region(STEP, 60, 10);
        region(NEXT, 80, 10);
        assertThat(told).hasSize(1).first().asString().startsWith("7 0-70 ");
    }

    @Test
    void manyBatchesWithoutAnOptimizerAreAStepEach() {
        for (int i = 0; i < 40; i++) {
            region(NEXT, i * 100L, 50);
        }
        assertThat(told).hasSize(8).last().asString().startsWith("7 3800-3900 {DATA_LOADING=50, ");
    }

    private void region(String name, long start, long duration) {
        event("region", name, start, duration);
    }

    private void event(String kind, String name, long start, long duration) {
        batch.addRow()
                .put(TextColumn.KIND, kind)
                .put(TextColumn.NAME, name)
                .put(LongColumn.TS_NS, start)
                .put(LongColumn.DUR_NS, duration)
                .put(LongColumn.PID, 7)
                .put(LongColumn.TID, 7);
        steps.accept(batch, batch.rows() - 1);
    }
}
