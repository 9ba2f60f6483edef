package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.Glob;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The library part of a probe: which files it means. A name without glob means a library by its SONAME too: the driver's
/// `libcuda.so.1` is everywhere a link to `libcuda.so.580.159.04`, and processes map the latter.
///
/// | selector | means files named |
/// |---|---|
/// | `libfoo.so` | `libfoo.so`, `libfoo.so.1.2`, `libfoo-1.2.so`, `libfoo-1a2b3c4d.so.1` (as wheels name their copies) |
/// | `libfoo.so.1` | the same, but only version 1: `libfoo.so.1`, `libfoo.so.1.2` |
/// | `libfoo` | the same as `libfoo.so` |
/// | `libfoo*.so*` | what the glob matches; it is held against the file name, or against the path if it has a `/` |
/// | `/opt/foo/libfoo.so` | this path, as the process sees it |
/// | `python3` | `python3`, `python3.11` |
/// | `exe` | the main program of each process, whatever it is called |
public record LibrarySelector(String text) {
    public static final String PROGRAM = "exe";
    private static final String SUFFIX = ".so";
    private static final Pattern STEM = Pattern.compile("^(?:(?!\\.so)[^*?\\[{]){3,}");

    /// Whether the selector means a file.
    ///
    /// @param path as the process that maps it sees it
    /// @param soname the name that the library has inside, or empty
    /// @param program whether it is the main program of a process
    public boolean matches(String path, String soname, boolean program) {
        return isMeant(path, program) || (isByName() && isMeant(soname, false));
    }

    /// Whether it is a name without a glob.
    public boolean isByName() {
        return !text.equals(PROGRAM) && !Glob.isGlob(text) && !text.contains("/");
    }

    /// The name up to `.so` or the first wildcard; none of a program.
    public Optional<String> stem() {
        String name = text.substring(text.lastIndexOf('/') + 1);
        Matcher stem = STEM.matcher(name);
        return stem.find() && (name.contains(SUFFIX) || name.startsWith("lib")) ? Optional.of(stem.group()) : Optional.empty();
    }

    private boolean isMeant(String path, boolean program) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (text.equals(PROGRAM)) {
            return program;
        }
        if (Glob.isGlob(text)) {
            return Glob.matches(text, text.contains("/") ? path : name);
        }
        if (text.contains("/")) {
            return text.equals(path);
        }
        if (name.equals(text)) {
            return true;
        }
        int suffix = text.indexOf(SUFFIX);
        if (suffix > 0) {
            return isVersionOf(text.substring(0, suffix), text.substring(suffix), name);
        }
        return isVersionedProgram(name) || (text.startsWith("lib") && isVersionOf(text, SUFFIX, name));
    }

    /// Whether `name` is `stem`, possibly a version or a wheel's hash, `.so`, and the wanted or a longer version.
    private static boolean isVersionOf(String stem, String suffix, String name) {
        int so = name.indexOf(SUFFIX, stem.length());
        if (!name.startsWith(stem) || so < 0) {
            return false;
        }
        String between = name.substring(stem.length(), so);
        String end = name.substring(so);
        boolean known = between.isEmpty() || between.matches("-([0-9][0-9.]*|[0-9a-f]{8,16})");
        return known && (end.equals(suffix) || end.startsWith(suffix + "."));
    }

    /// Whether `name` is the program with a version behind it: `python3.11` for `python3` and for `python`.
    private boolean isVersionedProgram(String name) {
        if (!name.startsWith(text)) {
            return false;
        }
        boolean endsInDigit = Character.isDigit(text.charAt(text.length() - 1));
        return name.substring(text.length()).matches(endsInDigit ? "(\\.[0-9]+)+" : "[0-9]+(\\.[0-9]+)*");
    }
}
