package io.dyber.zernel.record.elf;

import java.util.List;

/// What a program or library asks the loader for. Texts are as in the file, `$ORIGIN` and all.
///
/// @param needed names of libraries (`DT_NEEDED`)
/// @param rpath folders for these and for what they need (`DT_RPATH`), separated by colons, or empty
/// @param runpath folders for these alone, and for what the file loads itself (`DT_RUNPATH`), or empty
public record Dependencies(List<String> needed, String rpath, String runpath) {
    static final Dependencies NONE = new Dependencies(List.of(), "", "");

    public Dependencies {
        needed = List.copyOf(needed);
    }
}
