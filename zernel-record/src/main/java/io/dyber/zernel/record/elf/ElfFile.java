package io.dyber.zernel.record.elf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/// A 64-bit little-endian ELF file: a library or a program whose functions are to be probed.
///
/// Tables are mapped, not loaded, so that looking up a few names in a library of half a gigabyte is quick and costs
/// little memory. Every problem with the file is an [ElfException]. Not thread-safe.
public final class ElfFile implements AutoCloseable {
    public static final int X86_64 = 62;
    public static final int AARCH64 = 183;

    private final Path path;
    private final ElfBytes bytes;
    private final ElfLayout layout;

    private ElfFile(Path path, ElfBytes bytes, ElfLayout layout) {
        this.path = path;
        this.bytes = bytes;
        this.layout = layout;
    }

    public static ElfFile open(Path path) throws ElfException {
        ElfBytes bytes = new ElfBytes(path);
        try {
            return new ElfFile(path, bytes, Damage.check(bytes, () -> ElfLayout.read(bytes)));
        } catch (ElfException e) {
            bytes.close();
            throw e;
        }
    }

    /// Whether a file is an ELF file at all, of whatever kind and state: scripts and linker scripts are none.
    ///
    /// @throws ElfException when it cannot be read
    public static boolean isOne(Path path) throws ElfException {
        try (ElfBytes bytes = new ElfBytes(path)) {
            return ElfLayout.isElf(bytes);
        }
    }

    /// The name that a library has inside (`DT_SONAME`), whatever its file is called; empty if it has none. Reads a few
    /// hundred bytes.
    public static Optional<String> soname(Path path) throws ElfException {
        try (ElfBytes bytes = new ElfBytes(path)) {
            return Damage.check(bytes, () -> DynamicSegment.soname(bytes, ElfLayout.readLoaded(bytes)));
        }
    }

    /// What a program or library asks the loader for. Reads a few kilobytes.
    public static Dependencies dependencies(Path path) throws ElfException {
        try (ElfBytes bytes = new ElfBytes(path)) {
            return Damage.check(bytes, () -> DynamicSegment.dependencies(bytes, ElfLayout.readLoaded(bytes)));
        }
    }

    public Path path() {
        return path;
    }

    /// The architecture: [#X86_64], [#AARCH64] or another `EM_` constant.
    public int machine() {
        return layout.machine();
    }

    /// The GNU build id in hexadecimal; empty if the file has none.
    public Optional<String> buildId() throws ElfException {
        return Damage.check(bytes, () -> ElfNotes.buildId(bytes, layout).map(HexFormat.of()::formatHex));
    }

    /// Where in the file the code for an address is: what a uprobe wants.
    public OptionalLong fileOffset(long address) {
        return layout.fileOffset(address);
    }

    /// Up to `limit` bytes of code at a file offset, cut off at the end of its segment.
    public byte[] code(long fileOffset, int limit) throws ElfException {
        for (Segment segment : layout.segments()) {
            long inside = fileOffset - segment.offset();
            if (segment.type() == Segment.LOAD && inside >= 0 && inside < segment.fileSize()) {
                int length = (int) Math.min(limit, segment.fileSize() - inside);
                byte[] code = new byte[length];
                bytes.slice("code", fileOffset, length).get(code);
                return code;
            }
        }
        throw bytes.error("offset " + fileOffset + " is not loaded");
    }

    /// The addresses of pointers in its data that the loader fills with functions of these names, as calls of other libraries
    /// need. Those of x86-64.
    public Set<Long> pointersTo(Set<String> functions) throws ElfException {
        return Damage.check(bytes, () -> DynamicSegment.pointersTo(bytes, layout, functions));
    }

    /// The functions that match a pattern, defined or imported, of `.dynsym` and `.symtab`.
    ///
    /// @param pattern see [SymbolQuery]
    public SymbolMatches find(String pattern) throws ElfException {
        return find(List.of(pattern)).getFirst();
    }

    /// The same for many patterns in one go: their matches, in the order of the distinct patterns.
    public List<SymbolMatches> find(Collection<String> patterns) throws ElfException {
        return Damage.check(bytes, () -> {
            SymbolQuery query = new SymbolQuery(patterns);
            for (SymbolTable table : tables()) {
                table.find(query);
            }
            return query.matches();
        });
    }

    /// The functions whose code lies at these places of the file, by place; places outside of any are not in it.
    public Map<Long, String> functionsAt(Collection<Long> fileOffsets) throws ElfException {
        Map<Long, Long> places = new TreeMap<>();
        for (long offset : fileOffsets) {
            layout.codeAddress(offset).ifPresent(address -> places.put(address, offset));
        }
        return Damage.check(bytes, () -> {
            Map<Long, String> names = new HashMap<>();
            for (SymbolTable table : tables()) {
                table.forEachFunctionAt(
                        places.keySet().stream().mapToLong(Long::longValue).toArray(),
                        (address, name) -> names.putIfAbsent(places.getOrDefault(address, 0L), name));
            }
            return names;
        });
    }

    /// All its functions, for looking up many addresses.
    public FunctionIndex functionIndex() throws ElfException {
        return Damage.check(bytes, () -> {
            FunctionIndex.Builder index = new FunctionIndex.Builder();
            for (SymbolTable table : tables()) {
                table.collect(index);
            }
            return index.build();
        });
    }

    /// Variables defined here whose names end so: addresses as linked.
    public Map<Long, String> variables(String suffix) throws ElfException {
        return Damage.check(bytes, () -> {
            Map<Long, String> variables = new TreeMap<>();
            for (SymbolTable table : tables()) {
                table.forEachVariable(suffix, variables::put);
            }
            return variables;
        });
    }

    /// The address, as linked, of the code at a place of the file.
    public OptionalLong codeAddress(long fileOffset) {
        return layout.codeAddress(fileOffset);
    }

    /// Names of functions defined here that resemble `name`, the closest first.
    public List<String> similar(String name, int limit) throws ElfException {
        return Damage.check(bytes, () -> {
            SimilarNames similar = new SimilarNames(name);
            for (SymbolTable table : tables()) {
                table.forEachDefinedName(similar::offer);
            }
            return similar.closest(limit);
        });
    }

    /// A variable or constant.
    ///
    /// @param address where it is, as linked
    /// @param bytes 0 if the symbol table does not say
    public record Variable(long address, long bytes) {}

    /// A variable or constant by its exact name.
    public Optional<Variable> object(String name) throws ElfException {
        return Damage.check(bytes, () -> {
            for (SymbolTable table : tables()) {
                Optional<Variable> found = table.object(name);
                if (found.isPresent()) {
                    return found;
                }
            }
            return Optional.empty();
        });
    }

    /// Whether there is a table of all functions, not only of the exported ones.
    public boolean hasLocalSymbols() {
        return layout.sections().stream().anyMatch(s -> s.type() == Section.SYMTAB);
    }

    /// The USDT tracepoints.
    public List<UsdtNote> usdtNotes() throws ElfException {
        return Damage.check(bytes, () -> UsdtNotes.read(bytes, layout));
    }

    /// Its constants, among them its texts.
    public byte[] readOnlyData() throws ElfException {
        return Damage.check(bytes, () -> ReadOnlyData.read(bytes, layout));
    }

    private List<SymbolTable> tables() throws ElfException {
        List<SymbolTable> tables = new ArrayList<>();
        for (Section section : layout.sections()) {
            if (section.type() == Section.DYNSYM || section.type() == Section.SYMTAB) {
                tables.add(SymbolTable.ofSection(bytes, layout, section));
            }
        }
        if (tables.isEmpty()) {
            DynamicSegment.symbolTable(bytes, layout).ifPresent(tables::add);
        }
        return tables;
    }

    /// What was handed out before stays valid.
    @Override
    public void close() {
        bytes.close();
    }
}
