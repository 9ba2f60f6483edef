package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class LoaderCacheTest {
    private static final int X86_64 = 0x0303;
    private static final int X86 = 0x0003;

    private record Line(int flags, String name, String path) {}

    private static final List<Line> LINES = List.of(
            new Line(X86_64, "libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
            new Line(X86, "libcuda.so.1", "/usr/lib/i386-linux-gnu/libcuda.so.1"),
            new Line(X86_64, "libnccl.so.2", "/opt/nccl/libnccl.so.2"));

    private static final List<LoaderCache.Entry> ENTRIES = List.of(
            new LoaderCache.Entry("libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
            new LoaderCache.Entry("libnccl.so.2", "/opt/nccl/libnccl.so.2"));

    /// As `ldconfig` of glibc 2.32 and newer writes it.
    private static byte[] cache(List<Line> lines) {
        ByteArrayOutputStream strings = new ByteArrayOutputStream();
        int texts = 48 + 24 * lines.size();
        List<int[]> offsets = new ArrayList<>();
        for (Line line : lines) {
            int name = texts + strings.size();
            strings.writeBytes((line.name() + "\0").getBytes(StandardCharsets.UTF_8));
            offsets.add(new int[] {name, texts + strings.size()});
            strings.writeBytes((line.path() + "\0").getBytes(StandardCharsets.UTF_8));
        }
        ByteBuffer bytes = ByteBuffer.allocate(texts + strings.size()).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put("glibc-ld.so.cache1.1".getBytes(StandardCharsets.US_ASCII));
        bytes.putInt(lines.size()).putInt(strings.size()).putInt(2).putInt(0).position(48);
        for (int i = 0; i < lines.size(); i++) {
            bytes.putInt(lines.get(i).flags()).putInt(offsets.get(i)[0]).putInt(offsets.get(i)[1]).putInt(0).putLong(0);
        }
        return bytes.put(strings.toByteArray()).array();
    }

    /// The same behind a cache of the older format with so many entries.
    private static byte[] behindOld(byte[] cache, int entries) {
        int start = (16 + 12 * entries + 7) / 8 * 8;
        ByteBuffer bytes = ByteBuffer.allocate(start + cache.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put("ld.so-1.7.0".getBytes(StandardCharsets.US_ASCII)).position(12);
        return bytes.putInt(entries).position(start).put(cache).array();
    }

    @Test
    void librariesOf64BitsAreFoundByTheirNames() {
        assertThat(LoaderCache.parse(cache(LINES)).entries()).isEqualTo(ENTRIES);
    }

    @Test
    void theOlderFormatInFrontIsSkipped() {
        assertThat(LoaderCache.parse(behindOld(cache(LINES), 0)).entries()).isEqualTo(ENTRIES);
        assertThat(LoaderCache.parse(behindOld(cache(LINES), 3)).entries()).isEqualTo(ENTRIES);
        assertThat(LoaderCache.parse(behindOld(cache(LINES), 4)).entries()).isEqualTo(ENTRIES);
    }

    @Test
    void whatIsNoCacheIsEmpty() {
        assertThat(LoaderCache.parse(new byte[0]).entries()).isEmpty();
        assertThat(LoaderCache.parse("ld.so-1.7.0".getBytes(StandardCharsets.US_ASCII)).entries()).isEmpty();
        assertThat(LoaderCache.parse(new byte[4096]).entries()).isEmpty();
        assertThat(LoaderCache.parse(behindOld(new byte[0], 1 << 30)).entries()).isEmpty();
    }

    @Test
    void anEntryWhosePathIsCutOffIsLeftOut() {
        byte[] whole = cache(LINES);
        assertThat(LoaderCache.parse(Arrays.copyOf(whole, whole.length - 1)).entries()).isEqualTo(ENTRIES.subList(0, 1));
    }

    @Test
    void moreEntriesThanThereIsRoomForAreNotRead() {
        byte[] cache = cache(LINES);
        ByteBuffer.wrap(cache).order(ByteOrder.LITTLE_ENDIAN).putInt(20, -1);
        assertThat(LoaderCache.parse(cache).entries()).startsWith(ENTRIES.toArray(LoaderCache.Entry[]::new));
    }

    @Test
    void damageNeverThrows() {
        Random random = new Random(20);
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = cache(LINES);
            for (int j = 0; j < 8; j++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            assertThat(LoaderCache.parse(damaged).entries()).hasSizeLessThanOrEqualTo(damaged.length / 24);
        }
    }
}
