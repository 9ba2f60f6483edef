package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Symbol;
import io.dyber.zernel.record.python.InterpreterLayout.Code;
import io.dyber.zernel.record.python.InterpreterLayout.Frames;
import io.dyber.zernel.record.python.InterpreterLayout.Frames.Entry;
import io.dyber.zernel.record.python.InterpreterLayout.Texts;
import io.dyber.zernel.record.python.InterpreterLayout.Threads;

/// The layout of each version: by tables up to 3.12, as its headers have it on 64-bit machines, then from what the
/// interpreter says of itself. Sizes of the interpreter's types tell whether it is laid out so.
final class Layouts {
    private static final int MINOR_3_10 = 0x030a;
    private static final int MINOR_3_11 = 0x030b;
    private static final int MINOR_3_12 = 0x030c;
    private static final int MINOR_3_14 = 0x030e;

    private static final String SUPPORTED = "CPython 3.10 to 3.14 are supported";

    private Layouts() {}

    static Interpreter of(ElfFile elf) throws ElfException {
        PythonVersion version = PythonVersion.of(elf);
        if (version.minor() == 0 && !defines(elf, "PyIter_Send")) {
            return new Interpreter.Unknown("this CPython is older than 3.10: " + SUPPORTED);
        }
        if (version.minor() == 0) {
            version = new PythonVersion(MINOR_3_10 << 16 | 0xf0);
        }
        if (version.minor() < MINOR_3_10 || version.minor() > MINOR_3_14) {
            return new Interpreter.Unknown("this is CPython " + version + ": " + SUPPORTED);
        }
        if (version.isEarly()) {
            return new Interpreter.Unknown("this is an alpha or beta of CPython " + version);
        }
        if (defines(elf, "_Py_NegativeRefcount")) {
            return new Interpreter.Unknown("this CPython is a debug build");
        }
        return of(elf, version);
    }

    private static Interpreter of(ElfFile elf, PythonVersion version) throws ElfException {
        ElfData runtime = ElfData.of(elf, "_PyRuntime");
        ElfData codeType = ElfData.of(elf, "PyCode_Type");
        if (runtime.address().isEmpty() || codeType.address().isEmpty()) {
            return new Interpreter.Unknown("this CPython has no symbols '_PyRuntime' and 'PyCode_Type'");
        }
        if (version.minor() > MINOR_3_12) {
            return new DebugOffsets(elf, version, runtime, codeType).layout();
        }
        InterpreterLayout layout = table(version, runtime, codeType.address().getAsLong());
        return TypeSizes.of(version).areThoseOf(elf)
                ? new Interpreter.Known(layout)
                : new Interpreter.Unknown("this CPython " + version + " is built with other structures than the usual ones");
    }

    private static InterpreterLayout table(PythonVersion version, ElfData data, long codeType) {
        long runtime = data.address().orElseThrow();
        return switch (version.minor()) {
            case MINOR_3_10 -> new InterpreterLayout(
                    version, false, runtime, data.bytes(), codeType,
                    new Threads(32, 0, 8, 8, 16, 176, 24, -1),
                    new Frames(32, 0, 24, 96, true, -1, -1, Entry.EVERY, -1),
                    new Code(8, 16, 112, 104, 40, 120, -1),
                    texts(48, 72));
            case MINOR_3_11 -> new InterpreterLayout(
                    version, false, runtime, data.bytes(), codeType,
                    new Threads(40, 0, 16, 8, 16, 152, 56, 8),
                    new Frames(32, 0, 48, 56, false, 69, -1, Entry.FLAG, 68),
                    new Code(8, 16, 128, 112, 72, 136, 184),
                    texts(48, 72));
            case MINOR_3_12 -> new InterpreterLayout(
                    version, false, runtime, data.bytes(), codeType,
                    new Threads(40, 0, 72, 8, 16, 136, 56, 0),
                    new Frames(0, 0, 8, 56, false, 70, 3, Entry.AFTER_FOREIGN, -1),
                    new Code(8, 16, 128, 112, 68, 136, 192),
                    texts(40, 56));
            default -> throw new IllegalArgumentException("no table for CPython " + version);
        };
    }

    private static Texts texts(int ascii, int compact) {
        return new Texts(16, 32, 2, 1 << 5, 1 << 6, ascii, compact, 16, 32);
    }

    /// Whether a file has this function, not only calls it.
    static boolean defines(ElfFile elf, String function) throws ElfException {
        return elf.find(function).symbols().stream().anyMatch(symbol -> symbol.type() == Symbol.Type.FUNCTION);
    }
}
