package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;

/// One symbol table with its strings, searched in place.
final class SymbolTable {
    static final int ENTRY = 24;

    /// What is called so, and where it is.
    @FunctionalInterface
    interface NamedAddress {
        void accept(long address, String name);
    }

    private static final int TYPE_NONE = 0;
    private static final int TYPE_OBJECT = 1;
    private static final int TYPE_FUNCTION = 2;
    private static final int TYPE_IFUNC = 10;
    private static final int UNDEFINED = 0;
    private static final int RESERVED = 0xff00;
    private static final int EXTENDED = 0xffff;

    private final ElfBytes bytes;
    private final ElfLayout layout;
    /// 24 bytes each.
    private final ByteBuffer symbols;
    private final ByteBuffer strings;
    private final SymbolVersions versions;
    private long budget;

    SymbolTable(ElfBytes bytes, ElfLayout layout, ByteBuffer symbols, ByteBuffer strings, SymbolVersions versions) {
        this.bytes = bytes;
        this.layout = layout;
        this.symbols = symbols;
        this.strings = strings;
        this.versions = versions;
        // Names share bytes only where one ends like another; a table that goes far beyond is made to keep us busy.
        this.budget = 64L * strings.limit() + (1 << 20);
    }

    static SymbolTable ofSection(ElfBytes bytes, ElfLayout layout, Section section) throws ElfException {
        if (section.link() < 0 || section.link() >= layout.sections().size()) {
            throw bytes.error("its symbol table has no strings");
        }
        Section text = layout.sections().get(section.link());
        ByteBuffer symbols = bytes.slice("symbol table", section.offset(), section.size() / ENTRY * ENTRY);
        ByteBuffer strings = bytes.slice("symbol names", text.offset(), text.size());
        SymbolVersions versions = section.type() == Section.DYNSYM
                ? SymbolVersions.ofSections(bytes, layout)
                : SymbolVersions.none();
        return new SymbolTable(bytes, layout, symbols, strings, versions);
    }

    void find(SymbolQuery query) throws ElfException {
        for (int at = ENTRY; at < symbols.limit(); at += ENTRY) {
            int name = symbols.getInt(at);
            if (name > 0 && name < strings.limit() && query.mayMatch(strings, name) && isFunction(at)) {
                query.offer(symbol(at, name(name)));
            }
        }
    }

    /// The variable of this name.
    Optional<ElfFile.Variable> object(String wanted) throws ElfException {
        for (int at = ENTRY; at < symbols.limit(); at += ENTRY) {
            int name = symbols.getInt(at);
            if ((symbols.get(at + 4) & 15) == TYPE_OBJECT
                    && symbols.getShort(at + 6) != UNDEFINED
                    && name > 0
                    && name < strings.limit()
                    && strings.get(name) == wanted.charAt(0)
                    && name(name).equals(wanted)) {
                return Optional.of(new ElfFile.Variable(symbols.getLong(at + 8), symbols.getLong(at + 16)));
            }
        }
        return Optional.empty();
    }

    void forEachDefinedName(Consumer<String> action) throws ElfException {
        for (int at = ENTRY; at < symbols.limit(); at += ENTRY) {
            int name = symbols.getInt(at);
            if ((symbols.get(at + 4) & 15) == TYPE_FUNCTION
                    && symbols.getShort(at + 6) != UNDEFINED
                    && name > 0
                    && name < strings.limit()) {
                action.accept(name(name));
            }
        }
    }

    /// Shows every function that covers one of the addresses, which are in ascending order.
    void forEachFunctionAt(long[] addresses, NamedAddress action) throws ElfException {
        for (int at = ENTRY; at < symbols.limit(); at += ENTRY) {
            int name = symbols.getInt(at);
            if ((symbols.get(at + 4) & 15) != TYPE_FUNCTION || name <= 0 || symbols.getShort(at + 6) == UNDEFINED) {
                continue;
            }
            long start = symbols.getLong(at + 8);
            long end = start + Math.max(symbols.getLong(at + 16), 1);
            int found = Arrays.binarySearch(addresses, start);
            for (int i = found < 0 ? -found - 1 : found; i < addresses.length && addresses[i] < end; i++) {
                action.accept(addresses[i], name(name));
            }
        }
    }

    /// Collects every function that says how long it is.
    void collect(FunctionIndex.Builder index) {
        index.table(strings);
        for (int at = ENTRY; at < symbols.limit(); at += ENTRY) {
            long size = symbols.getLong(at + 16);
            if ((symbols.get(at + 4) & 15) == TYPE_FUNCTION && symbols.getShort(at + 6) != UNDEFINED && size > 0) {
                int name = symbols.getInt(at);
                layout.fileOffset(symbols.getLong(at + 8)).ifPresent(start -> index.add(start, start + size, name));
            }
        }
    }

    /// Shows every variable whose name ends so.
    void forEachVariable(String suffix, NamedAddress action) throws ElfException {
        for (int at = ENTRY; at < symbols.limit(); at += ENTRY) {
            int name = symbols.getInt(at);
            if ((symbols.get(at + 4) & 15) == TYPE_OBJECT && name > 0 && symbols.getShort(at + 6) != UNDEFINED) {
                String text = name(name);
                if (text.endsWith(suffix)) {
                    action.accept(symbols.getLong(at + 8), text);
                }
            }
        }
    }

    private String name(int start) throws ElfException {
        String name = ElfLayout.text(strings, start);
        budget -= name.length();
        if (budget < 0) {
            throw bytes.error("its symbol names overlap in an impossible way");
        }
        return name;
    }

    private boolean isFunction(int at) {
        int type = symbols.get(at + 4) & 15;
        if (type != TYPE_FUNCTION && type != TYPE_IFUNC && type != TYPE_NONE) {
            return false;
        }
        int section = symbols.getShort(at + 6) & 0xffff;
        if (section == UNDEFINED) {
            return true;
        }
        return (section < RESERVED || section == EXTENDED) && layout.isCode(symbols.getLong(at + 8));
    }

    /// A name in `.symtab` may carry its version; in `.dynsym` the version is in a table of its own.
    private Symbol symbol(int at, String written) throws ElfException {
        int mark = written.indexOf('@');
        String name = mark < 0 ? written : written.substring(0, mark);
        String version = mark < 0 ? "" : written.substring(mark).replaceFirst("^@@?", "");
        boolean defaultVersion = mark < 0 || written.startsWith("@@", mark);
        int type = symbols.get(at + 4) & 15;
        if (symbols.getShort(at + 6) == UNDEFINED) {
            return new Symbol(name, version, true, 0, 0, Symbol.Type.IMPORTED);
        }
        if (mark < 0) {
            int index = at / ENTRY;
            version = versions.name(index);
            defaultVersion = version.isEmpty() || !versions.isHidden(index);
        }
        Symbol.Type kind = switch (type) {
            case TYPE_IFUNC -> Symbol.Type.CHOSEN_AT_LOAD;
            case TYPE_NONE -> Symbol.Type.UNTYPED;
            default -> Symbol.Type.FUNCTION;
        };
        return new Symbol(name, version, defaultVersion, symbols.getLong(at + 8), symbols.getLong(at + 16), kind);
    }
}
