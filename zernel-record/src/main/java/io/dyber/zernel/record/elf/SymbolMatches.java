package io.dyber.zernel.record.elf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The symbols that a pattern matches, in the order of the tables; a symbol that is in both tables is here once.
///
/// @param truncated whether there were more than [#LIMIT]
public record SymbolMatches(String pattern, List<Symbol> symbols, boolean truncated) {
    /// More functions than anybody wants to probe with one pattern.
    public static final int LIMIT = 20_000;

    public SymbolMatches {
        symbols = List.copyOf(symbols);
    }

    static final class Collector {
        private record Key(String name, long address) {}

        private final Map<Key, Symbol> found = new LinkedHashMap<>();
        private boolean truncated;

        void add(Symbol symbol) {
            Key key = new Key(symbol.name(), symbol.address());
            Symbol known = found.get(key);
            if (known == null && found.size() == LIMIT) {
                truncated = true;
            } else if (known == null || says(symbol) > says(known)) {
                found.put(key, symbol);
            }
        }

        /// Of two entries for one name at one address, which says more: one in `.symtab` may lack the version, and an
        /// old version may be the same code as the default one.
        private static int says(Symbol symbol) {
            return symbol.version().isEmpty() ? 0 : symbol.defaultVersion() ? 2 : 1;
        }

        SymbolMatches matches(String pattern) {
            boolean versionAsked = pattern.contains("@");
            return new SymbolMatches(pattern, versionAsked ? List.copyOf(found.values()) : defaults(), truncated);
        }

        /// Without the old versions of names that have a default version.
        private List<Symbol> defaults() {
            Set<String> names = new HashSet<>();
            Map<String, Boolean> imported = new HashMap<>();
            for (Symbol symbol : found.values()) {
                if (symbol.type() != Symbol.Type.IMPORTED && symbol.defaultVersion()) {
                    names.add(symbol.name());
                }
                imported.merge(symbol.name(), symbol.type() == Symbol.Type.IMPORTED, Boolean::logicalAnd);
            }
            List<Symbol> defaults = new ArrayList<>();
            for (Symbol symbol : found.values()) {
                boolean old = !symbol.defaultVersion() && names.contains(symbol.name());
                boolean mereImport = symbol.type() == Symbol.Type.IMPORTED && !imported.getOrDefault(symbol.name(), true);
                if (!old && !mereImport) {
                    defaults.add(symbol);
                }
            }
            return defaults;
        }
    }
}
