package io.dyber.zernel.record.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How often processes are asked what they share.
final class SharedMemoryTest {
    private static final long MS = 1_000_000;

    @TempDir
    private Path proc = Path.of("");

    private long now;
    private long spent;

    private List<Watched> processes(int count) throws IOException {
        List<Watched> processes = new ArrayList<>();
        for (int pid = 1; pid <= count; pid++) {
            Path folder = Files.createDirectory(proc.resolve(Integer.toString(pid)));
            Files.writeString(folder.resolve("stat"), "");
            Files.writeString(
                    folder.resolve("smaps_rollup"), "Pss: 3 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 1 kB\n");
            processes.add(new Watched(proc, pid));
        }
        return processes;
    }

    /// Asks in rounds a second apart; each answer costs so much.
    private List<Integer> asked(SharedMemory shared, List<Watched> processes, int rounds, long costNanos) {
        List<Integer> asked = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            shared.sample(processes, (process, _, _) -> {
                asked.add(process.pid());
                spent += costNanos;
            });
            now += 1000 * MS;
        }
        return asked;
    }

    @Test
    void aCheapProcessIsAskedEveryOtherSecond() throws IOException {
        SharedMemory shared = new SharedMemory(() -> now, () -> spent);
        assertThat(asked(shared, processes(1), 10, MS)).hasSize(5);
    }

    @Test
    void costlyOnesGetAHundredthOfACpuInTurn() throws IOException {
        SharedMemory shared = new SharedMemory(() -> now, () -> spent);
        List<Integer> asked = asked(shared, processes(3), 100, 50 * MS);
        assertThat(spent).isBetween(900 * MS, 1_100 * MS);
        assertThat(asked).startsWith(1, 2, 3, 1, 2, 3);
    }
}
