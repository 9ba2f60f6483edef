package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;

/// A version of CPython as `PY_VERSION_HEX` has it: `0x030d00f0` is 3.13.0.
///
/// @param hex 0 for one before 3.11, which does not say it
public record PythonVersion(int hex) {
    private static final int FIRST_CANDIDATE = 0xc;

    /// What an interpreter says of itself.
    public static PythonVersion of(ElfFile elf) throws ElfException {
        return new PythonVersion((int) ElfData.of(elf, "Py_Version").number(0));
    }

    /// `0x030b` for all of 3.11; 0 where it is not known.
    public int minor() {
        return hex >>> 16;
    }

    /// Whether it is an alpha or a beta, whose structures were still to change.
    boolean isEarly() {
        return (hex >> 4 & 15) < FIRST_CANDIDATE;
    }

    @Override
    public String toString() {
        return (hex >>> 24) + "." + (hex >>> 16 & 255) + "." + (hex >>> 8 & 255);
    }
}
