package io.dyber.zernel.record.detail;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StepWatchTest {
    private static final String OPTIMIZER = "Optimizer.step#AdamW.step";
    private static final String LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

    private final Schema schema = CompiledPrograms.schema(List.of());
    private final StringDictionary texts = new StringDictionary();
    private final StepWatch watch = new StepWatch(schema, texts);
    private final List<String> steps = new ArrayList<>();

    StepWatchTest() {
        watch.listen(step -> steps.add(step.tid() + ": " + step.startNanos() + ".." + step.endNanos()));
    }

    private void row(String kind, String name, String role, long start, long end) {
        Batch batch = new Batch(schema.columns(), 1);
        batch.addRow(texts.id(kind));
        batch.put(schema.index("kind"), texts.id(kind));
        batch.put(schema.index("name"), texts.id(name));
        batch.put(schema.index("ts_ns"), start);
        batch.put(schema.index("dur_ns"), end - start);
        batch.put(schema.index("tid"), 7);
        if (!role.isEmpty()) {
            batch.put(schema.index("role"), texts.id(role));
        }
        watch.watch(batch);
    }

    private void region(String name, long start, long end) {
        row("region", name, "", start, end);
    }

    @Test
    void aStepLastsFromTheEndOfOneOptimizerStepToThatOfTheNext() {
        region(OPTIMIZER, 10, 12);
        region("forward", 12, 20);
        region(OPTIMIZER, 20, 25);
        region(OPTIMIZER, 30, 33);
        assertThat(steps).containsExactly("7: 12..25", "7: 25..33");
    }

    @Test
    void severalOptimizersOfOneBatchAreOneStep() {
        for (int at = 0; at < 300; at += 100) {
            region(LOADER, at, at + 10);
            region(OPTIMIZER, at + 40, at + 50);
            region(OPTIMIZER, at + 60, at + 70);
        }
        assertThat(steps).containsExactly("7: 50..150", "7: 150..250");
    }

    @Test
    void anOptimizerAroundAnotherIsTheSameStep() {
        region(OPTIMIZER, 10, 15);
        region(OPTIMIZER, 25, 30);
        region(OPTIMIZER, 22, 32);
        region(OPTIMIZER, 45, 50);
        assertThat(steps).containsExactly("7: 15..30", "7: 30..50");
    }

    @Test
    void withoutAnOptimizerBatchesAreSteps() {
        region(LOADER, 0, 10);
        region(LOADER, 90, 100);
        region(LOADER, 190, 200);
        assertThat(steps).containsExactly("7: 10..100", "7: 100..200");
    }

    @Test
    void callsAndRegionsWithTheRoleStepTellThemAlone() {
        region(OPTIMIZER, 0, 5);
        row("call", "train_step", "step", 10, 40);
        region(OPTIMIZER, 30, 35);
        row("call", "train_step", "step", 50, 80);
        region("zernel.step#train", 90, 95);
        region("zernel.steps", 96, 97);
        row("call", "next", "data_wait", 97, 98);
        assertThat(steps).containsExactly("7: 10..50", "7: 50..90");
    }
}
