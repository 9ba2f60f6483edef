package io.dyber.zernel.record.activity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Rings as a process may make them, by accident or on purpose.
class ActivityRingTest {
    private static final int SIZE = 65536;
    private static final int HEADER = 4096;

    @TempDir
    private Path folder = Path.of("");

    private ActivityRing ring(Consumer<ByteBuffer> content) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER + SIZE).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(0, ActivityRing.MAGIC).putInt(8, 4711).putInt(12, 2).putLong(16, SIZE);
        content.accept(bytes);
        return new ActivityRing(Files.write(folder.resolve("4711"), bytes.array()), SIZE);
    }

    private static List<String> read(ActivityRing ring) {
        List<String> records = new ArrayList<>();
        boolean _ = ring.read((type, _, _, bytes) -> records.add(type + ":" + bytes));
        return records;
    }

    private static void record(ByteBuffer bytes, int at, int size, int type) {
        bytes.putInt(HEADER + at, size).putInt(HEADER + at + 4, type);
    }

    @Test
    void recordsAreReadOnceAndInOrder() throws IOException {
        try (ActivityRing ring = ring(bytes -> {
            record(bytes, 0, 72, ActivityRing.KERNEL);
            record(bytes, 72, 24, ActivityRing.CALL);
            bytes.putLong(64, 96);
        })) {
            assertThat(ring.pid()).isEqualTo(4711);
            assertThat(ring.state()).isEqualTo(ActivityRing.State.ON);
            assertThat(read(ring)).containsExactly("1:64", "4:16");
            assertThat(read(ring)).isEmpty();
            assertThat(ring.isBroken()).isFalse();
        }
    }

    @Test
    void aRecordThatGoesOverTheEndBreaksTheRing() throws IOException {
        try (ActivityRing ring = ring(bytes -> {
            record(bytes, SIZE - 8, 72, ActivityRing.KERNEL);
            bytes.putLong(128, SIZE - 8).putLong(64, SIZE + 64);
        })) {
            assertThat(read(ring)).isEmpty();
            assertThat(ring.isBroken()).isTrue();
        }
    }

    @Test
    void aRecordThatIsTooShortForItsFieldsBreaksTheRing() throws IOException {
        try (ActivityRing ring = ring(bytes -> {
            record(bytes, SIZE - 8, 8, ActivityRing.KERNEL);
            bytes.putLong(128, SIZE - 8).putLong(64, SIZE);
        })) {
            assertThat(read(ring)).isEmpty();
            assertThat(ring.isBroken()).isTrue();
        }
    }

    @Test
    void positionsThatMakeNoSenseBreakTheRing() throws IOException {
        for (long head : new long[] {-8, SIZE + 8, Long.MIN_VALUE, Long.MAX_VALUE}) {
            try (ActivityRing ring = ring(bytes -> bytes.putLong(64, head))) {
                assertThat(read(ring)).isEmpty();
                assertThat(ring.isBroken()).as("head " + head).isTrue();
            }
        }
    }

    @Test
    void aFileThatIsNoRingIsRefused() throws IOException {
        assertThatThrownBy(() -> ring(bytes -> bytes.putLong(0, 1))).hasMessage("it is no ring");
        Path other = Files.write(folder.resolve("4712"), new byte[100]);
        assertThatThrownBy(() -> new ActivityRing(other, SIZE)).hasMessage("it has 100 bytes");
        Path link = Files.createSymbolicLink(folder.resolve("4713"), other);
        assertThatThrownBy(() -> new ActivityRing(link, SIZE)).isInstanceOf(IOException.class);
    }

    @Test
    void aFileThatIsMadeShorterBreaksTheRing() throws IOException {
        try (ActivityRing ring = ring(bytes -> {
            record(bytes, 32768, 72, ActivityRing.KERNEL);
            bytes.putLong(128, 32768).putLong(64, 32768 + 72);
        })) {
            try (RandomAccessFile file = new RandomAccessFile(folder.resolve("4711").toFile(), "rw")) {
                file.setLength(HEADER);
            }
            assertThat(read(ring)).isEmpty();
            assertThat(ring.isBroken()).isTrue();
        }
    }

    @Test
    void whateverIsInItTheReaderEnds() throws IOException {
        Random random = new Random(7);
        for (int i = 0; i < 2000; i++) {
            byte[] noise = new byte[HEADER + SIZE];
            random.nextBytes(noise);
            int head = random.nextInt(SIZE + 1);
            Path file = folder.resolve("4711");
            ByteBuffer bytes = ByteBuffer.wrap(noise).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putLong(0, ActivityRing.MAGIC).putInt(8, 4711).putLong(16, SIZE).putLong(64, head).putLong(128, 0);
            for (int at = 0; at < SIZE - 8 && random.nextInt(50) > 0; ) {
                int size = random.nextInt(10) > 0 ? 8 * (1 + random.nextInt(12)) : SIZE - at;
                record(bytes, at, size, random.nextInt(9));
                at += size;
            }
            Files.write(file, noise);
            ProcessActivity process = new ProcessActivity(new ActivityRing(file, SIZE), name -> name, (_, _, _, _, _) -> {});
            boolean _ = process.read();
            process.close();
        }
    }
}
