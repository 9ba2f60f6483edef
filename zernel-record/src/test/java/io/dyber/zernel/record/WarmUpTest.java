package io.dyber.zernel.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.schema.Schema;
import java.util.List;
import org.junit.jupiter.api.Test;

class WarmUpTest {
    private final Schema schema = CompiledPrograms.schema(List.of());

    @Test
    void whereTheRecorderGivesUpNothingOfItRunsOn() {
        WarmUp.begin(schema).close();

        assertThat(threads()).doesNotContain("zernel-warm-up");
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
    }
}
