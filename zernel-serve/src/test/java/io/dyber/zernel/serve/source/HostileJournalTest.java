package io.dyber.zernel.serve.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Journals that are cut off or have wrong bits: what cannot be read is said, and nothing else happens.
/// `-Dhostile.journals=N` and `-Dhostile.seed=N` for other ones.
@Timeout(120)
final class HostileJournalTest {
    private static final int JOURNALS = Integer.getInteger("hostile.journals", 500);
    private static final long SEED = Long.getLong("hostile.seed", 1);

    @TempDir
    private Path folder;

    @Test
    void everyJournalIsReadAsFarAsItGoesOrRefused() throws Exception {
        byte[] whole = journal();
        int readable = 0;
        int refused = 0;
        for (int i = 0; i < JOURNALS; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            byte[] hostile = Arrays.copyOf(whole, random.nextInt(3) == 0 ? random.nextInt(whole.length) : whole.length);
            for (int flips = random.nextInt(4); flips > 0 && hostile.length > 0; flips--) {
                hostile[random.nextInt(hostile.length)] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                assertThat(rows(hostile)).isLessThanOrEqualTo(1_000_000);
                readable++;
            } catch (IOException e) {
                assertThat(e).hasMessageStartingWith("reading a journal: ");
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + (SEED + i), e);
            }
        }
        assertThat(readable).isPositive();
        assertThat(refused).isPositive();
    }

    private byte[] journal() throws IOException {
        Path file = folder.resolve("whole.arrows");
        try (WrittenJournal journal = new WrittenJournal(file, 0)) {
            for (int batch = 0; batch < 5; batch++) {
                for (int i = 0; i < 20; i++) {
                    journal.add("io", "read" + (batch + i) % 7, 10L * i, 5, 1);
                }
                journal.flush();
            }
        }
        return Files.readAllBytes(file);
    }

    private long rows(byte[] bytes) throws IOException {
        Path file = Files.write(folder.resolve("hostile.arrows"), bytes);
        long rows = 0;
        try (BufferAllocator allocator = new RootAllocator(64 << 20);
                JournalReader reader = new JournalReader(file, allocator, () -> true)) {
            Optional<EventBatch> batch = reader.next();
            while (batch.isPresent()) {
                rows += batch.get().rows();
                batch = reader.next();
            }
        }
        return rows;
    }
}
