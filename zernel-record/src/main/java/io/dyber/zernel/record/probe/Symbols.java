package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Glob;
import io.dyber.zernel.record.elf.Symbol;
import io.dyber.zernel.record.elf.SymbolMatches;
import io.dyber.zernel.record.elf.x86.Exit;
import io.dyber.zernel.record.elf.x86.Exits;
import io.dyber.zernel.record.elf.x86.Site;
import io.dyber.zernel.record.elf.x86.SiteChooser;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/// Finds the functions to probe in one library file.
public final class Symbols {
    private static final int SUGGESTIONS = 3;
    private static final int SHORTEST_READ = 16;
    private static final int LARGEST = 1 << 20;

    /// Kinds of functions that anything may happen in: the user chose them.
    private static final Set<String> CHOSEN = Set.of(ProbeSpec.CALL, PythonProbe.KIND);

    /// How the end of a call is seen. The kernel sees a return by replacing the return address on the stack. That ends a
    /// process that unwinds or switches the stack meanwhile, as exceptions and coroutines do.
    public enum End {
        /// By the return: nothing but the function runs, or functions of the CUDA and NCCL libraries, which do no such thing.
        /// Not where the kernel's probes of returns end processes of another sort.
        RETURN,
        /// By the instructions that leave the function.
        EXITS,
        /// Not: which those are cannot be told from its code.
        UNKNOWN
    }

    /// A function of the file.
    ///
    /// @param function what asked for it
    /// @param symbol the name to show
    /// @param aliases other names of the same code
    /// @param offset where in the file it starts
    /// @param site where from there the probe goes
    /// @param returns its `ret`s, if its end is seen there, or emulated instructions before them; none when it never returns
    /// @param jumps where in the file jumps to other functions end it
    /// @param trapped whether the kernel single-steps an instruction by which it is left
    public record Found(
            Function function,
            String symbol,
            List<String> aliases,
            long offset,
            Site site,
            End end,
            List<Exit> returns,
            List<Long> jumps,
            boolean trapped) {
        public Found {
            aliases = List.copyOf(aliases);
            returns = List.copyOf(returns);
            jumps = List.copyOf(jumps);
        }

        /// The file offset to probe.
        public long probeOffset() {
            return offset + site.shift();
        }
    }

    /// A function, or all of a pattern, that cannot be probed in this file.
    ///
    /// @param suggestions symbols that may have been meant
    public record Missing(Function function, String symbol, String why, List<String> suggestions) {
        public Missing {
            suggestions = List.copyOf(suggestions);
        }

        /// The reason, with what may have been meant.
        public String explanation() {
            return suggestions.isEmpty() ? why : why + "; did you mean " + String.join(" or ", suggestions) + "?";
        }
    }

    private final ElfFile elf;
    private final boolean byReturn;
    private final List<Found> found = new ArrayList<>();
    private final List<Missing> missing = new ArrayList<>();
    private final Map<Function, Integer> beyondLimit = new LinkedHashMap<>();
    private final Map<Long, Found> byOffset = new HashMap<>();
    private final LibraryCode code;

    private Symbols(ElfFile elf, boolean byReturn) {
        this.elf = elf;
        this.code = new LibraryCode(elf);
        this.byReturn = byReturn;
    }

    /// Looks up all functions at once; the file should be one that their libraries mean.
    public static Symbols resolve(ElfFile elf, List<Function> functions) throws ElfException {
        return resolve(elf, functions, true);
    }

    /// The same.
    ///
    /// @param byReturn whether the end of a call may be seen by its return at all
    public static Symbols resolve(ElfFile elf, List<Function> functions, boolean byReturn) throws ElfException {
        Map<String, SymbolMatches> matches = new HashMap<>();
        Set<String> wanted = new LinkedHashSet<>(functions.stream().map(Function::symbol).toList());
        elf.find(List.copyOf(wanted)).forEach(match -> matches.put(match.pattern(), match));
        Symbols symbols = new Symbols(elf, byReturn);
        for (Function function : functions) {
            SymbolMatches match = matches.get(function.symbol());
            if (match != null) {
                symbols.add(function, match);
            }
        }
        return symbols;
    }

    /// One entry per piece of code, in the order of the functions.
    public List<Found> found() {
        return List.copyOf(found);
    }

    /// The patterns that match more symbols than are looked at, with that number.
    public Map<Function, Integer> beyondLimit() {
        return Collections.unmodifiableMap(beyondLimit);
    }

    public List<Missing> missing() {
        return List.copyOf(missing);
    }

    private void add(Function function, SymbolMatches match) throws ElfException {
        if (match.truncated()) {
            beyondLimit.put(function, SymbolMatches.LIMIT);
            return;
        }
        Map<Long, List<Symbol>> codes = new LinkedHashMap<>();
        for (Symbol symbol : match.symbols()) {
            OptionalLong offset = elf.fileOffset(symbol.address());
            switch (symbol.type()) {
                case FUNCTION, UNTYPED -> offset.ifPresent(
                        at -> codes.computeIfAbsent(at, _ -> new ArrayList<>()).add(symbol));
                case CHOSEN_AT_LOAD -> missChosenAtLoad(function, symbol);
                case IMPORTED -> miss(function, symbol.name(), "only imported here, not defined");
            }
        }
        for (Map.Entry<Long, List<Symbol>> code : codes.entrySet()) {
            add(function, code.getKey(), code.getValue());
        }
        if (match.symbols().isEmpty()) {
            missUnknown(function);
        }
    }

    private void add(Function function, long offset, List<Symbol> symbols) throws ElfException {
        Found other = byOffset.get(offset);
        Symbol shown = symbols.stream().min(Comparator.comparingInt(Symbols::underscores)).orElseThrow();
        if (other != null) {
            miss(function, shown.name(), other.symbol().equals(shown.name())
                    ? "already probed"
                    : "the same code as " + other.symbol() + ", which is already probed");
            return;
        }
        List<String> aliases = symbols.stream().map(Symbol::name).filter(name -> !name.equals(shown.name())).toList();
        boolean mangled = symbols.stream().anyMatch(symbol -> symbol.name().startsWith("_Z"));
        boolean unwinds = mangled || CHOSEN.contains(function.kind());
        Optional<Exits> exits = Optional.empty();
        End end = End.RETURN;
        if (elf.machine() == ElfFile.X86_64 && (unwinds || !byReturn)) {
            // With a jump at its end, a call of a library would be told without what it waits for and returns.
            exits = exits(offset, shown.size()).filter(known -> unwinds || known.jumps().isEmpty());
            end = exits.map(known -> known.simple() && byReturn ? End.RETURN : End.EXITS).orElse(End.UNKNOWN);
        }
        boolean readsAtReturn = function.captures().stream().anyMatch(Capture::atReturn);
        boolean earlier = !readsAtReturn && exits.stream().anyMatch(known -> !known.earlier().isEmpty());
        List<Exit> returns = exits.map(known -> earlier ? known.earlier() : rets(known)).orElse(List.of());
        boolean trapped = end == End.EXITS
                && exits.stream().anyMatch(known -> known.indirect() || (!earlier && !known.returns().isEmpty()));
        List<Long> jumps = exits.map(Exits::jumps).orElse(List.of()).stream().map(at -> offset + at).toList();
        Found one =
                new Found(function, shown.name(), aliases, offset, site(function, offset, shown.size()), end, returns, jumps, trapped);
        byOffset.put(offset, one);
        found.add(one);
    }

    private static List<Exit> rets(Exits exits) {
        return exits.returns().stream().map(at -> new Exit(at, 0)).toList();
    }

    /// Names with fewer leading underscores are the ones that people know.
    private static int underscores(Symbol symbol) {
        int count = 0;
        while (count < symbol.name().length() && symbol.name().charAt(count) == '_') {
            count++;
        }
        return count;
    }

    private Optional<Exits> exits(long offset, long size) throws ElfException {
        return size <= 0 || size > LARGEST ? Optional.empty() : Exits.of(elf.code(offset, (int) size), code.around(offset));
    }

    private Site site(Function function, long offset, long size) throws ElfException {
        if (elf.machine() != ElfFile.X86_64) {
            return new Site(0, Site.Cost.SINGLE_STEPPED);
        }
        long length = size > 0 ? Math.clamp(size, SHORTEST_READ, SiteChooser.LOOK_AHEAD) : SiteChooser.LOOK_AHEAD;
        byte[] code = elf.code(offset, (int) length);
        Site site = SiteChooser.choose(code);
        OptionalInt behind = onlyReadBehindFirst(function);
        return site.cost() == Site.Cost.SINGLE_STEPPED && behind.isPresent()
                ? SiteChooser.chooseBehind(code, behind.getAsInt())
                : site;
    }

    /// How far behind its first argument the one value lies that is read of a function, if that is all.
    private static OptionalInt onlyReadBehindFirst(Function function) {
        if (function.captures().size() != 1) {
            return OptionalInt.empty();
        }
        Capture only = function.captures().getFirst();
        int offset = only.offsets().size() == 1 ? only.offsets().getFirst() : 0;
        Capture value = new Capture(only.column(), Source.ARGUMENT, 1, List.of(offset), Width.U64, false);
        return only.equals(value) ? OptionalInt.of(offset) : OptionalInt.empty();
    }

    /// A glob that happens to match one is not worth a word.
    private void missChosenAtLoad(Function function, Symbol symbol) {
        if (!function.isGlob()) {
            miss(function, symbol.name(), "chosen at load time among several (IFUNC), so there is no one place to probe");
        }
    }

    private void missUnknown(Function function) throws ElfException {
        String why = elf.hasLocalSymbols()
                ? "no such function in the file"
                : "no such exported function in the file, and its local symbols are stripped";
        // Reading all names of a large library takes a second: only for what a person has typed.
        boolean typed = function.kind().equals(ProbeSpec.CALL) && !Glob.isGlob(function.library());
        List<String> suggestions = typed ? elf.similar(function.symbol(), SUGGESTIONS) : List.of();
        missing.add(new Missing(function, function.symbol(), why, suggestions));
    }

    private void miss(Function function, String symbol, String why) {
        missing.add(new Missing(function, symbol, why, List.of()));
    }
}
