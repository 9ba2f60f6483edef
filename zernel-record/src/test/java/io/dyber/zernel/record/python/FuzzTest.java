package io.dyber.zernel.record.python;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.process.Memory;
import io.dyber.zernel.record.python.InterpreterLayout.Code;
import io.dyber.zernel.record.python.InterpreterLayout.Frames;
import io.dyber.zernel.record.python.InterpreterLayout.Frames.Entry;
import io.dyber.zernel.record.python.InterpreterLayout.Texts;
import io.dyber.zernel.record.python.InterpreterLayout.Threads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// A process that has anything where its structures should be.
final class FuzzTest {
    private static final long SEED = 24;
    private static final int RUNS = 5_000;
    private static final long CODE_TYPE = 0x1000;
    private static final int PAGE = 4096;

    private static final InterpreterLayout LAYOUT = new InterpreterLayout(
            new PythonVersion(0x030c01f0), false, 0x2000, 0x1000, CODE_TYPE, new Threads(40, 0, 72, 8, 16, 136, 56, 0),
            new Frames(0, 0, 8, 56, false, 70, 3, Entry.AFTER_FOREIGN, -1), new Code(8, 16, 128, 112, 68, 136, 192),
            new Texts(16, 32, 2, 32, 64, 40, 56, 16, 32));

    /// Pages of words that look like structures: addresses, small and huge numbers, types. Every fourth page is missing.
    private static final class Garbage implements Memory {
        private final Map<Long, byte[]> pages = new HashMap<>();
        private final Random random;
        private long read;

        Garbage(long seed) {
            random = new Random(seed);
        }

        @Override
        public byte[] read(long address, int size) {
            read += size;
            byte[] bytes = new byte[size];
            for (int i = 0; i < size; i++) {
                long at = address + i;
                byte[] page = pages.computeIfAbsent(at / PAGE, _ -> page());
                if (at < 0 || page.length == 0) {
                    return new byte[0];
                }
                bytes[i] = page[(int) (at % PAGE)];
            }
            return bytes;
        }

        private byte[] page() {
            ByteBuffer page = ByteBuffer.allocate(PAGE).order(ByteOrder.LITTLE_ENDIAN);
            while (page.hasRemaining()) {
                page.putLong(word());
            }
            return random.nextInt(4) == 0 ? new byte[0] : page.array();
        }

        private long address() {
            return random.nextInt(64 * PAGE) & ~7L;
        }

        private long word() {
            return switch (random.nextInt(10)) {
                case 0, 1 -> CODE_TYPE;
                case 2, 3, 4, 5 -> address();
                case 6 -> random.nextInt(200);
                case 7, 8 -> 0x24 | random.nextInt(2) << 6 | random.nextLong() << 32;
                default -> random.nextLong();
            };
        }
    }

    @Test
    void codeObjectsOfGarbageAreNoneOrSmall() {
        int found = 0;
        for (int run = 0; run < RUNS / 10; run++) {
            Garbage garbage = new Garbage(SEED + run);
            CodeReader reader = new CodeReader(LAYOUT, 0, garbage);
            for (int i = 0; i < 50; i++) {
                garbage.read = 0;
                CodeObject code = reader.read(garbage.address()).orElse(null);
                if (code != null) {
                    found++;
                    assertThat(code.file().codePointCount(0, code.file().length())).isLessThanOrEqualTo(512);
                    assertThat(code.line(garbage.random.nextInt(1000)).orElse(0)).isNotNegative();
                }
                assertThat(garbage.read).isLessThan(300 << 10);
            }
        }
        assertThat(found).as("seed %d", SEED).isGreaterThan(5);
    }

    @Test
    void walksOfGarbageEnd() {
        long frames = 0;
        for (int run = 0; run < 100; run++) {
            Garbage garbage = new Garbage(SEED + run);
            FrameWalker walker = new FrameWalker(LAYOUT, 0, garbage);
            walker.frames(CODE_TYPE);
            for (int i = 0; i < 20; i++) {
                frames += walker.walk(garbage.address()).size();
            }
            new LayoutCheck(LAYOUT, 0, garbage).problem();
        }
        assertThat(frames).as("seed %d", SEED).isPositive();
    }

    @Test
    void anyBytesAreALineTable() {
        Random random = new Random(SEED);
        for (int run = 0; run < RUNS; run++) {
            byte[] table = new byte[random.nextInt(60)];
            random.nextBytes(table);
            int first = random.nextInt();
            LineTable deltas = LineTable.ofDeltas(table, first);
            LineTable locations = LineTable.ofLocations(table, first, 1000);
            for (long offset : new long[] {Long.MIN_VALUE, -1, 0, 2, 99, 999, 1000, Long.MAX_VALUE}) {
                assertThat(deltas.line(offset).orElse(0)).isNotNegative();
                assertThat(locations.line(offset).orElse(0)).isNotNegative();
            }
        }
    }

    @Test
    void theLargestTablesEnd() {
        byte[] endless = new byte[256 << 10];
        Arrays.fill(endless, (byte) 0xe8);
        assertThat(LineTable.ofLocations(endless, 1, Long.MAX_VALUE).line(Long.MAX_VALUE - 1)).isEmpty();
        assertThat(LineTable.ofDeltas(new byte[256 << 10], 1).line(7)).isEmpty();
    }
}
