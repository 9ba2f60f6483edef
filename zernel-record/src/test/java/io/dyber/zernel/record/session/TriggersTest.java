package io.dyber.zernel.record.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.detail.Step;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.option.Trigger;
import io.dyber.zernel.record.schema.Schema;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TriggersTest {
    private static final long MILLI = 1_000_000;

    private final Schema schema = CompiledPrograms.schema(List.of());
    private final StringDictionary texts = new StringDictionary();
    private long now;

    private Triggers triggers(String... wanted) {
        return new Triggers(List.of(wanted).stream().map(Trigger::parse).toList(), schema, texts);
    }

    /// An event that ends now, by thread 7.
    private void event(Triggers triggers, String kind, String name, long millis) {
        Batch batch = new Batch(schema.columns(), 1);
        batch.addRow(texts.id(kind));
        batch.put(schema.index("kind"), texts.id(kind));
        batch.put(schema.index("name"), texts.id(name));
        batch.put(schema.index("ts_ns"), now - millis * MILLI);
        batch.put(schema.index("dur_ns"), millis * MILLI);
        batch.put(schema.index("tid"), 7);
        triggers.watch(batch);
    }

    private void steps(Triggers triggers, int count, long millis) {
        for (int i = 0; i < count; i++) {
            now += millis * MILLI;
            triggers.watch(new Step(7, now - millis * MILLI, now));
        }
    }

    @Test
    void aStepOfMoreThanThreeMediansFiresOnce() {
        Triggers triggers = triggers("step > 3x median");
        steps(triggers, 50, 100);
        steps(triggers, 1, 300);
        assertThat(triggers.take()).isEmpty();
        steps(triggers, 1, 301);
        assertThat(triggers.take())
                .contains(new Triggers.Fired("step > 3x median: 301 ms, median 100 ms", now));
        steps(triggers, 5, 100);
        assertThat(triggers.take()).isEmpty();
    }

    @Test
    void theFirstStepsFireNothing() {
        Triggers triggers = triggers("step > 3x median");
        steps(triggers, 5, 10);
        steps(triggers, 1, 5000);
        assertThat(triggers.take()).isEmpty();
    }

    @Test
    void theMedianFollowsTheLastHundredSteps() {
        Triggers triggers = triggers("step > 1.5x median");
        steps(triggers, 300, 100);
        steps(triggers, 100, 140);
        assertThat(triggers.take()).isEmpty();
        steps(triggers, 1, 200);
        assertThat(triggers.take()).isEmpty();
        steps(triggers, 1, 211);
        assertThat(triggers.take().map(Triggers.Fired::text))
                .contains("step > 1.5x median: 211 ms, median 140 ms");
    }

    @Test
    void aLongEventOfAKindOrNameFires() {
        Triggers triggers = triggers("io > 500ms", "Reducer::finalize_backward > 2s");
        event(triggers, "io", "read", 500);
        event(triggers, "wait", "futex", 9000);
        event(triggers, "dist_wait", "Reducer::finalize_backward", 1900);
        assertThat(triggers.take()).isEmpty();
        event(triggers, "io", "read", 501);
        assertThat(triggers.take().map(Triggers.Fired::text)).contains("io > 500ms: 501 ms");
        event(triggers, "dist_wait", "Reducer::finalize_backward", 2001);
        assertThat(triggers.take()).isEqualTo(
                Optional.of(new Triggers.Fired("Reducer::finalize_backward > 2s: 2001 ms", now)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "step", "step > 3", "> 500ms", "io > 0ms", "io < 5ms", "io > 5", "io > -5ms"})
    void whatIsNoTriggerIsSaid(String text) {
        assertThatThrownBy(() -> Trigger.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("'" + text
                        + "' is not a trigger: write 'step > 3x median', 'KIND > 500ms' or 'NAME > 500ms'");
    }
}
