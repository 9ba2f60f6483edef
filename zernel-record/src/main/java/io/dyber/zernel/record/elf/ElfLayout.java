package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/// The headers of an ELF file. No sections if the section headers were stripped.
record ElfLayout(int machine, int type, List<Segment> segments, List<Section> sections) {
    private static final int MAGIC = 0x464c457f;
    private static final int MAGIC_SIZE = 4;
    private static final int EHDR = 64;
    private static final int PHDR = 56;
    private static final int SHDR = 64;
    private static final int EXECUTABLE = 2;
    private static final int SHARED = 3;
    private static final int PN_XNUM = 0xffff;
    private static final int PIECE = 128;

    static ElfLayout read(ElfBytes bytes) throws ElfException {
        ByteBuffer header = header(bytes);
        return new ElfLayout(machine(header), type(header), segments(bytes, header), sections(bytes, header));
    }

    /// Without the sections, whose headers lie at the end of the file, where a loader does not look.
    static ElfLayout readLoaded(ElfBytes bytes) throws ElfException {
        ByteBuffer header = header(bytes);
        return new ElfLayout(machine(header), type(header), segments(bytes, header), List.of());
    }

    /// Whether it begins as one.
    static boolean isElf(ElfBytes bytes) throws ElfException {
        return bytes.size() >= MAGIC_SIZE && bytes.slice("header", 0, MAGIC_SIZE).getInt(0) == MAGIC;
    }

    private static ByteBuffer header(ElfBytes bytes) throws ElfException {
        if (bytes.size() == 0) {
            throw bytes.error("it is empty");
        }
        if (bytes.size() < EHDR || !isElf(bytes)) {
            throw bytes.error("it is not an ELF file");
        }
        ByteBuffer header = bytes.slice("header", 0, EHDR);
        if (header.get(4) != 2 || header.get(5) != 1) {
            throw bytes.error("only 64-bit little-endian ELF files are supported");
        }
        int type = type(header);
        if (type != EXECUTABLE && type != SHARED) {
            throw bytes.error(type == 1 ? "it is an object file, not a library or program" : "it is no library or program");
        }
        return header;
    }

    private static int type(ByteBuffer header) {
        return header.getShort(16) & 0xffff;
    }

    private static int machine(ByteBuffer header) {
        return header.getShort(18) & 0xffff;
    }

    private static List<Segment> segments(ElfBytes bytes, ByteBuffer header) throws ElfException {
        int count = header.getShort(56) & 0xffff;
        if (count == 0) {
            return List.of();
        }
        if (count == PN_XNUM || (header.getShort(54) & 0xffff) != PHDR) {
            throw bytes.error("its program headers have an unknown form");
        }
        ByteBuffer table = bytes.slice("program headers", header.getLong(32), (long) count * PHDR);
        List<Segment> segments = new ArrayList<>(count);
        for (int at = 0; at < table.limit(); at += PHDR) {
            segments.add(new Segment(table.getInt(at), (table.getInt(at + 4) & 1) != 0, table.getLong(at + 8),
                    table.getLong(at + 16), table.getLong(at + 32), table.getLong(at + 48)));
        }
        return List.copyOf(segments);
    }

    private static List<Section> sections(ElfBytes bytes, ByteBuffer header) throws ElfException {
        long offset = header.getLong(40);
        if (offset == 0) {
            return List.of();
        }
        if ((header.getShort(58) & 0xffff) != SHDR) {
            throw bytes.error("its section headers have an unknown form");
        }
        ByteBuffer first = bytes.slice("section headers", offset, SHDR);
        int few = header.getShort(60) & 0xffff;
        // More than 65279 sections: the count and the index of the names are in the first header.
        long count = few != 0 ? few : first.getLong(32);
        int names = header.getShort(62) & 0xffff;
        names = names == 0xffff ? first.getInt(40) : names;
        if (count < 0 || count > bytes.size() / SHDR) {
            throw bytes.error("its section headers lie beyond the end of the file (truncated?)");
        }
        ByteBuffer table = bytes.slice("section headers", offset, count * SHDR);
        ByteBuffer strings = ByteBuffer.allocate(0);
        if (names > 0 && names < count) {
            strings = bytes.slice("section names", table.getLong(names * SHDR + 24), table.getLong(names * SHDR + 32));
        }
        List<Section> sections = new ArrayList<>((int) Math.min(count, 1024));
        for (int at = 0; at < table.limit(); at += SHDR) {
            sections.add(new Section(text(strings, table.getInt(at)), table.getInt(at + 4), table.getLong(at + 16),
                    table.getLong(at + 24), table.getLong(at + 32), table.getInt(at + 40), table.getInt(at + 44)));
        }
        return List.copyOf(sections);
    }

    /// The zero-terminated text at a place of a string table; empty if there is none.
    static String text(ByteBuffer strings, int start) {
        if (start < 0 || start >= strings.limit()) {
            return "";
        }
        int most = strings.limit() - start;
        // Not byte by byte: in a mapped file that was cut meanwhile each of them would be a fault.
        for (int length = Math.min(PIECE, most); ; length = (int) Math.min(2L * length, most)) {
            byte[] text = new byte[length];
            strings.get(start, text);
            int end = 0;
            while (end < length && text[end] != 0) {
                end++;
            }
            if (end < length || length == most) {
                return new String(text, 0, end, StandardCharsets.UTF_8);
            }
        }
    }

    Optional<Section> section(String name) {
        return sections.stream().filter(s -> s.name().equals(name)).findFirst();
    }

    /// Where in the file the byte for an address is.
    OptionalLong fileOffset(long address) {
        for (Segment segment : segments) {
            if (segment.type() == Segment.LOAD && segment.covers(address)) {
                return OptionalLong.of(address - segment.address() + segment.offset());
            }
        }
        return OptionalLong.empty();
    }

    /// The address of a place in the code; mappings begin at whole pages, which may lie before their segment.
    OptionalLong codeAddress(long fileOffset) {
        for (Segment segment : segments) {
            long page = Math.max(segment.align(), 1);
            long before = segment.offset() % page;
            long inside = fileOffset - segment.offset();
            if (segment.type() == Segment.LOAD && segment.executable() && inside >= -before && inside < segment.fileSize()) {
                return OptionalLong.of(segment.address() + inside);
            }
        }
        return OptionalLong.empty();
    }

    /// Whether the address is in a segment that is loaded as code.
    boolean isCode(long address) {
        return segments.stream().anyMatch(s -> s.type() == Segment.LOAD && s.executable() && s.covers(address));
    }
}
