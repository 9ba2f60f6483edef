package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class ProcessFactsTest {
    @Test
    void aProcessThatIsNiceIsKnownToBe() throws IOException, InterruptedException {
        int own = ProcessFacts.of((int) ProcessHandle.current().pid()).orElseThrow().nice();
        Process process = new ProcessBuilder("nice", "-n", "5", "sleep", "60").start();
        try {
            ProcessFacts facts = ProcessFacts.of((int) process.pid()).orElseThrow();
            for (int i = 0; i < 1000 && !facts.comm().equals("sleep"); i++) {
                Thread.sleep(5);
                facts = ProcessFacts.of((int) process.pid()).orElseThrow();
            }
            assertThat(facts.nice()).isEqualTo(Math.min(own + 5, 19));
        } finally {
            process.destroy();
        }
    }
}
