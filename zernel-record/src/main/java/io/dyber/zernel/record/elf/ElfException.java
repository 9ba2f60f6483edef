package io.dyber.zernel.record.elf;

import java.io.IOException;
import java.nio.file.Path;

/// A file that cannot be read as the ELF file it should be: gone, damaged, or of a kind that is not supported.
public final class ElfException extends IOException {
    private final String why;

    ElfException(Path file, String why) {
        super("reading '" + file + "': " + why);
        this.why = why;
    }

    /// The reason alone, for a table that shows the file already.
    public String why() {
        return why;
    }
}
