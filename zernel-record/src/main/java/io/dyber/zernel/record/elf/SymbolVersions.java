package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/// The versions that a library defines for the symbols of its dynamic table.
///
/// @param indexes two bytes per symbol, empty if there are no versions
/// @param names by version index
record SymbolVersions(ByteBuffer indexes, Map<Integer, String> names) {
    private static final int HIDDEN = 0x8000;
    private static final int FIRST_NAMED = 2;

    static SymbolVersions none() {
        return new SymbolVersions(ByteBuffer.allocate(0), Map.of());
    }

    static SymbolVersions ofSections(ElfBytes bytes, ElfLayout layout) throws ElfException {
        Section indexes = null;
        Section definitions = null;
        for (Section section : layout.sections()) {
            if (section.type() == Section.VERSYM) {
                indexes = section;
            } else if (section.type() == Section.VERDEF) {
                definitions = section;
            }
        }
        if (indexes == null || definitions == null) {
            return none();
        }
        if (definitions.link() < 0 || definitions.link() >= layout.sections().size()) {
            throw bytes.error("its symbol versions have no names");
        }
        Section text = layout.sections().get(definitions.link());
        return new SymbolVersions(bytes.slice("symbol versions", indexes.offset(), indexes.size()), read(
                bytes.slice("version definitions", definitions.offset(), definitions.size()),
                bytes.slice("version names", text.offset(), text.size())));
    }

    /// Reads the chain of definitions; each lies behind the one before it.
    static Map<Integer, String> read(ByteBuffer definitions, ByteBuffer strings) {
        Map<Integer, String> names = new HashMap<>();
        int at = 0;
        while (at >= 0 && at <= definitions.limit() - 20) {
            int index = definitions.getShort(at + 4) & ~HIDDEN & 0xffff;
            long name = at + (definitions.getInt(at + 12) & 0xffffffffL);
            if (name <= definitions.limit() - 8L) {
                names.put(index, ElfLayout.text(strings, definitions.getInt((int) name)));
            }
            int next = definitions.getInt(at + 16);
            if (next <= 0 || next > definitions.limit() - at) {
                break;
            }
            at += next;
        }
        return Map.copyOf(names);
    }

    /// The version of a symbol; empty if it has none.
    String name(int symbol) {
        int index = index(symbol) & ~HIDDEN;
        return index < FIRST_NAMED ? "" : names.getOrDefault(index, "");
    }

    /// Whether only those who ask for this very version get it.
    boolean isHidden(int symbol) {
        return (index(symbol) & HIDDEN) != 0;
    }

    private int index(int symbol) {
        return 2L * symbol + 2 <= indexes.limit() ? indexes.getShort(2 * symbol) & 0xffff : 0;
    }
}
