package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// One way in which a pattern can match a symbol: an exact name or a glob, and a version if it asks for one.
final class NamePattern {
    private final String whole;
    private final String name;
    private final String version;
    private final byte[] prefix;

    private NamePattern(String whole, String name, String version, byte[] prefix) {
        this.whole = whole;
        this.name = name;
        this.version = version;
        this.prefix = prefix;
    }

    static List<NamePattern> of(String pattern) {
        int at = pattern.indexOf('@');
        String name = at < 0 ? pattern : pattern.substring(0, at);
        String version = at < 0 ? "" : pattern.substring(at).replaceFirst("^@@?", "");
        List<NamePattern> patterns = new ArrayList<>();
        for (String form : name.contains("::") ? mangled(name) : List.of(name)) {
            int literal = 0;
            while (literal < form.length() && "*?".indexOf(form.charAt(literal)) < 0) {
                literal++;
            }
            byte[] prefix = form.substring(0, literal).getBytes(StandardCharsets.UTF_8);
            patterns.add(new NamePattern(pattern, form, version, prefix));
        }
        return patterns;
    }

    /// The Itanium ABI's forms of a C++ name: exported and static, plain and template, const member or not.
    private static List<String> mangled(String qualified) {
        String[] parts = (qualified.startsWith("::") ? qualified.substring(2) : qualified).split("::", -1);
        String last = parts[parts.length - 1];
        String function = last.length() + last;
        StringBuilder scope = new StringBuilder();
        for (int i = 0; i < parts.length - 1; i++) {
            scope.append(i == 0 && parts[0].equals("std") ? "St" : parts[i].length() + parts[i]);
        }
        if (scope.isEmpty() || scope.toString().equals("St")) {
            return List.of("_Z" + scope + function + "*", "_Z" + scope + "L" + function + "*");
        }
        List<String> forms = new ArrayList<>();
        for (String start : List.of("_ZN" + scope, "_ZN" + scope + "L", "_ZNK" + scope)) {
            forms.add(start + function + "E*");
            forms.add(start + function + "I*");
        }
        return forms;
    }

    /// The pattern as given.
    String whole() {
        return whole;
    }

    /// What the name without its version must be or match.
    String name() {
        return name;
    }

    boolean isGlob() {
        return Glob.isGlob(name);
    }

    /// What every match begins with.
    byte[] prefix() {
        return prefix;
    }

    boolean hasPrefix(ByteBuffer strings, int start) {
        if (start > strings.limit() - prefix.length) {
            return false;
        }
        for (int i = 0; i < prefix.length; i++) {
            if (strings.get(start + i) != prefix[i]) {
                return false;
            }
        }
        return true;
    }

    boolean wantsVersion(Symbol symbol) {
        return version.isEmpty() || version.equals(symbol.version());
    }

    /// Whether a glob matches a name.
    boolean matches(String text) {
        return !text.contains(".cold") && Glob.matches(name, text);
    }
}
