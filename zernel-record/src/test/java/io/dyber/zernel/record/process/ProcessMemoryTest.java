package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.live.Needs;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ProcessMemoryTest {
    /// A program at an address, at the same one each time, which starts itself once more in its place.
    private static final List<String> COMMAND = List.of("setarch", "-R", "sh", "-c", "echo 1; read x; exec sh -c 'echo 2; read x'");

    private static Process started() throws IOException {
        try {
            return new ProcessBuilder(COMMAND).start();
        } catch (IOException e) {
            Needs.skip("needs setarch: " + e.getMessage());
            throw e;
        }
    }

    private static long start(Process process) throws IOException {
        String first = Files.readAllLines(Path.of("/proc/" + process.pid() + "/maps")).getFirst();
        return Long.parseUnsignedLong(first, 0, first.indexOf('-'), 16);
    }

    @Test
    void itIsThatOfTheProgramThatRanWhenItWasOpened() throws Exception {
        Process process = started();
        try {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            assertThat(lines.readLine()).isEqualTo("1");
            try (ProcessMemory first = ProcessMemory.of((int) process.pid())) {
                long start = start(process);
                assertThat(first.read(start, 4)).containsExactly(0x7f, 'E', 'L', 'F');
                process.getOutputStream().write("\n".getBytes(StandardCharsets.UTF_8));
                process.getOutputStream().flush();
                assertThat(lines.readLine()).isEqualTo("2");
                assertThat(start(process)).isEqualTo(start);
                assertThat(first.read(start, 4)).isEmpty();
                try (ProcessMemory second = ProcessMemory.of((int) process.pid())) {
                    assertThat(second.read(start, 4)).containsExactly(0x7f, 'E', 'L', 'F');
                }
            }
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void whatIsNotThereIsNothing() throws Exception {
        Process process = started();
        try (ProcessMemory memory = ProcessMemory.of((int) process.pid())) {
            process.getInputStream().read();
            for (long address : new long[] {0, -8, 8, Long.MIN_VALUE, Long.MAX_VALUE}) {
                assertThat(memory.read(address, 8)).isEmpty();
            }
            assertThat(memory.read(start(process), 64 << 20)).isEmpty();
            assertThat(memory.read(start(process), -1)).isEmpty();
            assertThat(ProcessMemory.longs((int) process.pid(), start(process), 2)).hasSize(2);
        } finally {
            process.destroyForcibly().waitFor();
        }
        try (ProcessMemory memory = ProcessMemory.of((int) process.pid())) {
            assertThat(memory.read(4096, 8)).isEmpty();
        }
    }

    @Test
    void noNumbersAreAtTheEndsOfAllAddresses() {
        int self = (int) ProcessHandle.current().pid();
        assertThat(ProcessMemory.longsAt(self, List.of(Long.MAX_VALUE - 3))).isEmpty();
        assertThat(ProcessMemory.longsAt(self, List.of(Long.MIN_VALUE, -8L, Long.MAX_VALUE))).isEmpty();
    }
}
