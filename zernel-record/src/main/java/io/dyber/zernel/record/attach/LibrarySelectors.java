package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.probe.LibrarySelector;
import io.dyber.zernel.record.process.MappedFile;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Which of several selectors mean a file. A file is looked into once: processes map hundreds. Not thread-safe.
public final class LibrarySelectors {
    private static final int MOST_FILES = 50_000;

    private final List<LibrarySelector> selectors;
    private final Map<File, Set<String>> meant = new HashMap<>();

    /// A number is given to another file when its own is deleted, so the path belongs to what is known of it.
    private record File(String identity, String path, boolean program) {}

    /// @param texts each a [LibrarySelector] text
    public LibrarySelectors(Collection<String> texts) {
        this.selectors = new LinkedHashSet<>(texts).stream().map(LibrarySelector::new).toList();
    }

    /// The texts of those that mean a file that a process maps.
    public Set<String> of(MappedFile file) {
        File key = new File(file.identity(), file.path(), file.program());
        Set<String> known = meant.get(key);
        if (known == null) {
            known = of(file.path(), file.opened(), file.program());
            if (meant.size() >= MOST_FILES) {
                meant.clear();
            }
            if (!file.isGone()) {
                meant.put(key, known);
            }
        }
        return known;
    }

    /// Whether any means a library that nobody needs to have loaded yet.
    ///
    /// @param path as processes see it
    /// @param opened where the same file can be opened from here
    public boolean mean(String path, Path opened) {
        return !of(path, opened, false).isEmpty();
    }

    /// Whether any means a library by this name alone, which may be that of its file, of a link to it or its SONAME.
    public boolean meanName(String name) {
        return selectors.stream().anyMatch(selector -> selector.isByName() && selector.matches(name, "", false));
    }

    /// Up to where the names of meant libraries are alike: `libcuda` for `libcuda.so.1`. Programs and short globs have none.
    public List<String> stems() {
        return selectors.stream().map(LibrarySelector::stem).flatMap(Optional::stream).distinct().toList();
    }

    private Set<String> of(String path, Path opened, boolean program) {
        String soname = soname(opened);
        return selectors.stream()
                .filter(selector -> selector.matches(path, soname, program))
                .map(LibrarySelector::text)
                .collect(Collectors.toUnmodifiableSet());
    }

    /// A file that cannot be read, or is no library, has no name but its file's.
    private static String soname(Path file) {
        try {
            return ElfFile.soname(file).orElse("");
        } catch (ElfException _) {
            return "";
        }
    }
}
