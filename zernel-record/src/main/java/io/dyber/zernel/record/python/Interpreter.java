package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import java.util.Optional;

/// A file that has a CPython interpreter in it, as far as its frames can be read from outside.
public sealed interface Interpreter {
    /// One whose frames can be read.
    record Known(InterpreterLayout layout) implements Interpreter {}

    /// One whose frames cannot be read.
    ///
    /// @param why `CPython 3.9 is not supported, 3.10 to 3.14 are`
    record Unknown(String why) implements Interpreter {}

    /// The interpreter of a program or library; none when there is none in it, as in a `python3` that only loads
    /// `libpython3.so`.
    static Optional<Interpreter> of(ElfFile elf) throws ElfException {
        return isIn(elf) ? Optional.of(Layouts.of(elf)) : Optional.empty();
    }

    /// Whether there is an interpreter in a file.
    static boolean isIn(ElfFile elf) throws ElfException {
        return Layouts.defines(elf, "_PyEval_EvalFrameDefault");
    }

    /// Whether it runs without the GIL, so that its objects are larger; false for one before 3.13.
    static boolean isFreeThreaded(ElfFile elf) throws ElfException {
        return DebugOffsets.isFreeThreaded(elf);
    }
}
