package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.python.Interpreter;
import io.dyber.zernel.record.python.PythonVersion;
import java.util.Optional;

/// Where one version of CPython keeps what leads from a frame to the name of its function, as its own headers
/// (`pycore_frame.h`, `code.h`, `unicodeobject.h`) have it on 64-bit machines.
///
/// @param code offset of the code object in a frame
/// @param text offset of the characters in an ASCII text
/// @param tags bits of the pointer to the code object that do not belong to the address
record PythonLayout(int code, int text, int tags) {
    /// Offset of `co_qualname` in a code object.
    static final int QUALIFIED_NAME = 128;
    /// Offset of `state` in a text.
    static final int TEXT_STATE = 32;

    private static final PythonLayout PYTHON_3_11 = new PythonLayout(32, 48, 0);
    private static final PythonLayout PYTHON_3_12 = new PythonLayout(0, 40, 0);
    /// 3.14 counts references in the two low bits of what a frame holds (`_PyStackRef`).
    private static final PythonLayout PYTHON_3_14 = new PythonLayout(0, 40, 3);

    /// That of an interpreter; none when it is of an unknown version, or free-threaded, whose objects are larger.
    static Optional<PythonLayout> of(ElfFile elf) throws ElfException {
        if (Interpreter.isFreeThreaded(elf)) {
            return Optional.empty();
        }
        return ofVersion(PythonVersion.of(elf).minor());
    }

    /// @param version `0x030b` for 3.11
    static Optional<PythonLayout> ofVersion(int version) {
        return switch (version) {
            case 0x030b -> Optional.of(PYTHON_3_11);
            case 0x030c, 0x030d -> Optional.of(PYTHON_3_12);
            case 0x030e -> Optional.of(PYTHON_3_14);
            default -> Optional.empty();
        };
    }
}
