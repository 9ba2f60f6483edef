package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A set of patterns over function names, prepared so that half a million names can be held against it quickly.
///
/// A pattern is a symbol's name, a glob (`my_*`), or a C++ name without its parameters
/// (`torch::autograd::Engine::execute`), which means all its overloads. `@VERSION` behind a name or glob asks for
/// that symbol version; without it a name means the default version. Globs leave out compilers' `.cold` fragments,
/// which are not functions.
public final class SymbolQuery {
    private final Map<String, SymbolMatches.Collector> collectors = new LinkedHashMap<>();
    private final List<NamePattern> globs = new ArrayList<>();
    private final Map<String, List<NamePattern>> exact = new LinkedHashMap<>();
    private final PrefixTrie beginnings = new PrefixTrie();
    private final int[] hashes;
    private final int longest;

    SymbolQuery(Collection<String> patterns) {
        for (String pattern : patterns) {
            collectors.put(pattern, new SymbolMatches.Collector());
            for (NamePattern part : NamePattern.of(pattern)) {
                beginnings.add(part.prefix());
                if (part.isGlob()) {
                    globs.add(part);
                } else {
                    exact.computeIfAbsent(part.name(), _ -> new ArrayList<>()).add(part);
                }
            }
        }
        hashes = exact.keySet().stream().mapToInt(SymbolQuery::hash).sorted().toArray();
        longest = exact.keySet().stream().mapToInt(name -> bytes(name).length).max().orElse(0);
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private static int hash(String name) {
        int hash = 0;
        for (byte b : bytes(name)) {
            hash = 31 * hash + b;
        }
        return hash;
    }

    /// Whether the name that starts at a place of a string table may match: never wrong with a no.
    boolean mayMatch(ByteBuffer strings, int start) {
        return beginnings.begin(strings, start)
                && (hasWantedHash(strings, start) || hasWantedPrefix(strings, start));
    }

    private boolean hasWantedHash(ByteBuffer strings, int start) {
        int end = (int) Math.min(strings.limit(), (long) start + longest + 1);
        int hash = 0;
        for (int at = start; at < end; at++) {
            byte b = strings.get(at);
            if (b == 0 || b == '@') {
                return Arrays.binarySearch(hashes, hash) >= 0;
            }
            hash = 31 * hash + b;
        }
        return false;
    }

    private boolean hasWantedPrefix(ByteBuffer strings, int start) {
        for (NamePattern glob : globs) {
            if (glob.hasPrefix(strings, start)) {
                return true;
            }
        }
        return false;
    }

    /// Keeps the symbol for each pattern that it matches.
    void offer(Symbol symbol) {
        for (NamePattern pattern : exact.getOrDefault(symbol.name(), List.of())) {
            if (pattern.wantsVersion(symbol)) {
                keep(pattern, symbol);
            }
        }
        for (NamePattern glob : globs) {
            if (symbol.type() != Symbol.Type.IMPORTED
                    && symbol.type() != Symbol.Type.UNTYPED
                    && glob.wantsVersion(symbol)
                    && glob.matches(symbol.name())) {
                keep(glob, symbol);
            }
        }
    }

    private void keep(NamePattern pattern, Symbol symbol) {
        SymbolMatches.Collector collector = collectors.get(pattern.whole());
        if (collector != null) {
            collector.add(symbol);
        }
    }

    List<SymbolMatches> matches() {
        List<SymbolMatches> matches = new ArrayList<>();
        collectors.forEach((pattern, collector) -> matches.add(collector.matches(pattern)));
        return matches;
    }
}
