package io.dyber.zernel.record.process;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// What `/etc/ld.so.cache` says: which library file a name means (`sysdeps/generic/dl-cache.h` of glibc, the format of
/// version 2.2 and newer, alone or behind the older one). Pure; a damaged cache gives what can still be read of it.
///
/// @param entries in the order of the file; a name may be there several times, for several processors
public record LoaderCache(List<Entry> entries) {
    private static final byte[] MAGIC = "glibc-ld.so.cache1.1".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OLD_MAGIC = "ld.so-1.7.0".getBytes(StandardCharsets.US_ASCII);
    private static final int OLD_HEADER = 16;
    private static final int OLD_ENTRY = 12;
    private static final int HEADER = 48;
    private static final int ENTRY = 24;
    private static final int ALIGNMENT = 8;
    private static final int MOST_ENTRIES = 100_000;
    private static final int LONGEST = 4096;

    /// Flags of 64-bit libraries: those of x86-64 and those of arm64, each for the C library of Linux.
    private static final List<Integer> FLAGS = List.of(0x0303, 0x0a03);

    /// One library.
    ///
    /// @param name its SONAME
    /// @param path of the file
    public record Entry(String name, String path) {}

    public LoaderCache {
        entries = List.copyOf(entries);
    }

    public static LoaderCache parse(byte[] bytes) {
        ByteBuffer data = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int start = start(data);
        List<Entry> entries = new ArrayList<>();
        if (start >= 0 && begins(data, start, MAGIC) && data.limit() - start >= HEADER) {
            long count = data.getInt(start + MAGIC.length) & 0xffffffffL;
            long there = Math.min(Math.min(count, MOST_ENTRIES), (data.limit() - start - HEADER) / ENTRY);
            for (int i = 0; i < there; i++) {
                int at = start + HEADER + i * ENTRY;
                String name = text(data, start, data.getInt(at + 4));
                String path = text(data, start, data.getInt(at + 8));
                if (FLAGS.contains(data.getInt(at)) && !name.isEmpty() && path.startsWith("/")) {
                    entries.add(new Entry(name, path));
                }
            }
        }
        return new LoaderCache(entries);
    }

    /// Where the newer format begins; -1 if nowhere.
    private static int start(ByteBuffer data) {
        if (!begins(data, 0, OLD_MAGIC)) {
            return 0;
        }
        if (data.limit() < OLD_HEADER) {
            return -1;
        }
        long end = OLD_HEADER + OLD_ENTRY * (data.getInt(OLD_HEADER - 4) & 0xffffffffL);
        long aligned = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        return aligned < data.limit() ? (int) aligned : -1;
    }

    private static boolean begins(ByteBuffer data, int start, byte[] magic) {
        return data.limit() - start >= magic.length
                && data.slice(start, magic.length).equals(ByteBuffer.wrap(magic));
    }

    /// Offsets count from the beginning of the newer format.
    private static String text(ByteBuffer data, int start, int offset) {
        long from = start + (offset & 0xffffffffL);
        if (from >= data.limit()) {
            return "";
        }
        int end = (int) from;
        while (end < data.limit() && end - from < LONGEST && data.get(end) != 0) {
            end++;
        }
        boolean ends = end < data.limit() && data.get(end) == 0;
        byte[] text = new byte[ends ? end - (int) from : 0];
        data.get((int) from, text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
