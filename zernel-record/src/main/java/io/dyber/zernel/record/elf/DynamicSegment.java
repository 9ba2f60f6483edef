package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// What the dynamic loader sees: the library's own name and what it asks for, the pointers to be filled with functions of
/// others, and enough to find the exported functions when the section headers are gone.
final class DynamicSegment {
    private static final long NEEDED = 1;
    private static final long HASH = 4;
    private static final long STRTAB = 5;
    private static final long SYMTAB = 6;
    private static final long RELA = 7;
    private static final long RELASZ = 8;
    private static final long STRSZ = 10;
    private static final long SONAME = 14;
    private static final long RPATH = 15;
    private static final long PLTRELSZ = 2;
    private static final long JMPREL = 23;
    private static final long RUNPATH = 29;
    private static final long GNU_HASH = 0x6ffffef5L;
    private static final long RELACOUNT = 0x6ffffff9L;
    private static final long VERSYM = 0x6ffffff0L;
    private static final long VERDEF = 0x6ffffffcL;
    private static final long LONGEST_NAME = 256;
    private static final long LONGEST_PATH = 16_384;
    private static final int MOST_NEEDED = 1024;

    /// An `Elf64_Rela`, and the types that fill a place with the address of a function.
    private static final int RELOCATION = 24;
    private static final int GLOB_DAT = 6;
    private static final int JUMP_SLOT = 7;

    private final ElfBytes bytes;
    private final ElfLayout layout;
    private final Map<Long, Long> entries = new HashMap<>();
    private final List<Long> needed = new ArrayList<>();

    private DynamicSegment(ElfBytes bytes, ElfLayout layout, Segment segment) throws ElfException {
        this.bytes = bytes;
        this.layout = layout;
        ByteBuffer table = bytes.slice("dynamic segment", segment.offset(), segment.fileSize() / 16 * 16);
        for (int at = 0; at < table.limit() && table.getLong(at) != 0; at += 16) {
            entries.put(table.getLong(at), table.getLong(at + 8));
            if (table.getLong(at) == NEEDED && needed.size() < MOST_NEEDED) {
                needed.add(table.getLong(at + 8));
            }
        }
    }

    static Optional<SymbolTable> symbolTable(ElfBytes bytes, ElfLayout layout) throws ElfException {
        Optional<DynamicSegment> dynamic = of(bytes, layout);
        return dynamic.isEmpty() ? Optional.empty() : Optional.of(dynamic.get().symbolTable());
    }

    /// The name by which other libraries ask for this one; empty if it has none.
    static Optional<String> soname(ElfBytes bytes, ElfLayout layout) throws ElfException {
        Optional<DynamicSegment> dynamic = of(bytes, layout);
        return dynamic.isEmpty() ? Optional.empty() : dynamic.get().soname();
    }

    /// What it asks the loader for; nothing if it is linked statically.
    static Dependencies dependencies(ElfBytes bytes, ElfLayout layout) throws ElfException {
        Optional<DynamicSegment> dynamic = of(bytes, layout);
        return dynamic.isEmpty() ? Dependencies.NONE : dynamic.get().dependencies();
    }

    /// The addresses of pointers that the loader fills with functions of these names, on x86-64.
    static Set<Long> pointersTo(ElfBytes bytes, ElfLayout layout, Set<String> functions) throws ElfException {
        Optional<DynamicSegment> dynamic = of(bytes, layout);
        return dynamic.isEmpty() ? Set.of() : dynamic.get().pointersTo(functions);
    }

    private static Optional<DynamicSegment> of(ElfBytes bytes, ElfLayout layout) throws ElfException {
        for (Segment segment : layout.segments()) {
            if (segment.type() == Segment.DYNAMIC) {
                return Optional.of(new DynamicSegment(bytes, layout, segment));
            }
        }
        return Optional.empty();
    }

    private Set<Long> pointersTo(Set<String> functions) throws ElfException {
        Set<Integer> symbols = imported(functions);
        Set<Long> pointers = new HashSet<>();
        if (!symbols.isEmpty()) {
            addPointers(JMPREL, PLTRELSZ, 0, symbols, pointers);
            // Those that only add where the file lies come first.
            addPointers(RELA, RELASZ, entries.getOrDefault(RELACOUNT, 0L), symbols, pointers);
        }
        return pointers;
    }

    private void addPointers(long tag, long sizeTag, long first, Set<Integer> symbols, Set<Long> pointers)
            throws ElfException {
        if (!entries.containsKey(tag)) {
            return;
        }
        ByteBuffer table = table(tag, "relocations", entry(sizeTag, "relocations") / RELOCATION * RELOCATION);
        for (int at = index(first * RELOCATION); at < table.limit(); at += RELOCATION) {
            int type = table.getInt(at + 8);
            if ((type == GLOB_DAT || type == JUMP_SLOT) && symbols.contains(table.getInt(at + 12))) {
                pointers.add(table.getLong(at));
            }
        }
    }

    /// The indices of these symbols among those that the library takes from others, which come before its own.
    private Set<Integer> imported(Set<String> names) throws ElfException {
        long count = entries.containsKey(GNU_HASH)
                ? table(GNU_HASH, "hash table", 8).getInt(4) & 0xffffffffL
                : symbolCount();
        ByteBuffer symbols = table(SYMTAB, "symbol table", count * SymbolTable.ENTRY);
        ByteBuffer strings = table(STRTAB, "symbol names", entry(STRSZ, "symbol names"));
        Set<Character> initials = names.stream().map(one -> one.charAt(0)).collect(Collectors.toSet());
        Set<Integer> found = new HashSet<>();
        for (int at = SymbolTable.ENTRY; at < symbols.limit(); at += SymbolTable.ENTRY) {
            int name = symbols.getInt(at);
            boolean mayBe = name > 0 && name < strings.limit() && initials.contains((char) strings.get(name));
            if (mayBe && names.contains(ElfLayout.text(strings, name))) {
                found.add(at / SymbolTable.ENTRY);
            }
        }
        return found;
    }

    private Optional<String> soname() throws ElfException {
        return text(SONAME, LONGEST_NAME);
    }

    private Dependencies dependencies() throws ElfException {
        List<String> names = new ArrayList<>();
        for (long at : needed) {
            names.add(textAt(at, LONGEST_NAME));
        }
        return new Dependencies(
                names, text(RPATH, LONGEST_PATH).orElse(""), text(RUNPATH, LONGEST_PATH).orElse(""));
    }

    private Optional<String> text(long tag, long longest) throws ElfException {
        Long at = entries.get(tag);
        return at == null ? Optional.empty() : Optional.of(textAt(at, longest));
    }

    private String textAt(long at, long longest) throws ElfException {
        long start = layout.fileOffset(entry(STRTAB, "names") + at).orElse(-1);
        long length = Math.min(longest, bytes.size() - start);
        return ElfLayout.text(bytes.slice("name", start, length), 0);
    }

    private SymbolTable symbolTable() throws ElfException {
        long count = symbolCount();
        ByteBuffer symbols = table(SYMTAB, "symbol table", count * SymbolTable.ENTRY);
        ByteBuffer strings = table(STRTAB, "symbol names", entry(STRSZ, "symbol names"));
        SymbolVersions versions = SymbolVersions.none();
        if (entries.containsKey(VERSYM) && entries.containsKey(VERDEF)) {
            ByteBuffer definitions = table(VERDEF, "version definitions", rest(VERDEF, "version definitions"));
            versions = new SymbolVersions(
                    table(VERSYM, "symbol versions", 2 * count), SymbolVersions.read(definitions, strings));
        }
        return new SymbolTable(bytes, layout, symbols, strings, versions);
    }

    /// The dynamic segment does not say how many symbols there are; the hash tables do.
    private long symbolCount() throws ElfException {
        if (entries.containsKey(HASH)) {
            return table(HASH, "hash table", 8).getInt(4) & 0xffffffffL;
        }
        ByteBuffer hash = table(GNU_HASH, "hash table", rest(GNU_HASH, "hash table"));
        long first = hash.getInt(4) & 0xffffffffL;
        long buckets = 16 + 8 * (hash.getInt(8) & 0xffffffffL);
        long chains = buckets + 4 * (hash.getInt(0) & 0xffffffffL);
        long last = 0;
        for (long at = buckets; at < chains; at += 4) {
            last = Math.max(last, hash.getInt(index(at)) & 0xffffffffL);
        }
        if (last < first) {
            return first;
        }
        while ((hash.getInt(index(chains + 4 * (last - first))) & 1) == 0) {
            last++;
        }
        return last + 1;
    }

    private static int index(long at) {
        if (at > Integer.MAX_VALUE) {
            throw new IndexOutOfBoundsException();
        }
        return (int) at;
    }

    private long entry(long tag, String what) throws ElfException {
        Long value = entries.get(tag);
        if (value == null) {
            throw bytes.error("it has no section headers and no " + what);
        }
        return value;
    }

    /// How many bytes follow in the segment of a table whose size is not known.
    private long rest(long tag, String what) throws ElfException {
        long address = entry(tag, what);
        for (Segment segment : layout.segments()) {
            if (segment.type() == Segment.LOAD && segment.covers(address)) {
                return segment.fileSize() - (address - segment.address());
            }
        }
        throw bytes.error("its " + what + " is at an address that is not loaded");
    }

    private ByteBuffer table(long tag, String what, long length) throws ElfException {
        long offset = layout.fileOffset(entry(tag, what)).orElse(-1);
        return bytes.slice(what, offset, length);
    }
}
