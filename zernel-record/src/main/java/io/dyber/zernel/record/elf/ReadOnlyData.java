package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// The constants of a file: its `.rodata`, or all that is loaded and not code when the section headers were stripped.
final class ReadOnlyData {
    private static final int LARGEST = 512 << 20;

    private ReadOnlyData() {}

    static byte[] read(ElfBytes bytes, ElfLayout layout) throws ElfException {
        List<ByteBuffer> pieces = new ArrayList<>();
        long size = 0;
        if (layout.section(".rodata").isPresent()) {
            Section section = layout.section(".rodata").get();
            size = section.size();
            pieces.add(bytes.slice("constants", section.offset(), size));
        } else {
            for (Segment segment : layout.segments()) {
                if (segment.type() == Segment.LOAD && !segment.executable()) {
                    size += segment.fileSize();
                    pieces.add(bytes.slice("constants", segment.offset(), segment.fileSize()));
                }
            }
        }
        if (size > LARGEST) {
            throw bytes.error("it has more than " + LARGEST + " bytes of constants");
        }
        ByteBuffer all = ByteBuffer.allocate((int) size);
        pieces.forEach(all::put);
        return all.array();
    }
}
