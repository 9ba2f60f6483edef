package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.python.InterpreterLayout.Code;
import io.dyber.zernel.record.python.InterpreterLayout.Frames;
import io.dyber.zernel.record.python.InterpreterLayout.Frames.Entry;
import io.dyber.zernel.record.python.InterpreterLayout.Texts;
import io.dyber.zernel.record.python.InterpreterLayout.Threads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// The description of its own structures for debuggers (`_Py_DebugOffsets`) that an interpreter has at the start of
/// `_PyRuntime` since 3.13. Groups of eight-byte numbers follow each other; 3.14 has members more, so its groups begin later.
///
/// @param runtime that has the description
record DebugOffsets(ElfFile elf, PythonVersion version, ElfData runtime, ElfData codeType) {
    private static final long COOKIE = ByteBuffer.wrap("xdebugpy".getBytes(StandardCharsets.US_ASCII))
            .order(ByteOrder.LITTLE_ENDIAN)
            .getLong();
    private static final int VERSION = 8;
    private static final int FREE_THREADED = 16;
    private static final int FIRST_GROUP = 24;

    private static final int MINOR_3_14 = 0x030e;

    /// More than any of these structures has.
    private static final long MOST = 16 << 20;

    private static final int NO_CODE_FROM = 3;

    /// Where the groups begin, in members of eight bytes behind `free_threaded`.
    private enum Group {
        RUNTIME(0, 0),
        INTERPRETER(3, 3),
        THREAD(16, 19),
        FRAME(25, 28),
        CODE(31, 36),
        OBJECT(41, 47),
        TYPE(43, 49),
        BYTES(61, 71),
        TEXT(64, 74);

        private final int in313;
        private final int in314;

        Group(int in313, int in314) {
            this.in313 = in313;
            this.in314 = in314;
        }
    }

    /// Whether the interpreter says that it runs without the GIL; false for one that has no such description.
    static boolean isFreeThreaded(ElfFile elf) throws ElfException {
        ElfData runtime = ElfData.of(elf, "_PyRuntime");
        return runtime.number(0) == COOKIE && runtime.number(FREE_THREADED) != 0;
    }

    Interpreter layout() throws ElfException {
        if (runtime.number(0) != COOKIE || (int) runtime.number(VERSION) != version.hex()) {
            return new Interpreter.Unknown("this CPython " + version + " does not describe its structures");
        }
        boolean freeThreaded = runtime.number(FREE_THREADED) != 0;
        boolean is314 = version.minor() == MINOR_3_14;
        if (is314 && freeThreaded) {
            return new Interpreter.Unknown("this is a free-threaded CPython " + version + ": of those only 3.13 is supported");
        }
        if (!isConsistent()) {
            return new Interpreter.Unknown("this CPython " + version + " is built with other structures than it describes");
        }
        return new Interpreter.Known(new InterpreterLayout(
                version, freeThreaded, runtime.address().orElseThrow(), runtime.bytes(), codeType.address().orElseThrow(),
                threads(), frames(is314), code(), texts()));
    }

    private Threads threads() throws ElfException {
        return new Threads(
                at(Group.RUNTIME, 2), at(Group.INTERPRETER, 2), at(Group.INTERPRETER, 3), at(Group.THREAD, 2),
                at(Group.THREAD, 3), at(Group.THREAD, 5), at(Group.THREAD, 4), -1);
    }

    /// 3.14 counts references in the two low bits of what a frame holds (`_PyStackRef`).
    private Frames frames(boolean tagged) throws ElfException {
        return new Frames(
                at(Group.FRAME, 2), tagged ? 3 : 0, at(Group.FRAME, 1), at(Group.FRAME, 3), false, at(Group.FRAME, 5),
                NO_CODE_FROM, Entry.AFTER_FOREIGN, -1);
    }

    private Code code() throws ElfException {
        return new Code(
                at(Group.OBJECT, 1), at(Group.BYTES, 1), at(Group.CODE, 3), at(Group.CODE, 1), at(Group.CODE, 5),
                at(Group.CODE, 4), at(Group.CODE, 9));
    }

    /// The bits of a text's state are not described: these are those of 3.13 and 3.14.
    private Texts texts() throws ElfException {
        int ascii = at(Group.TEXT, 3);
        return new Texts(
                at(Group.TEXT, 2), at(Group.TEXT, 1), 2, 1 << 5, 1 << 6, ascii, ascii + 16, at(Group.BYTES, 1),
                at(Group.BYTES, 2));
    }

    /// What the types say of themselves is what the description says of them.
    private boolean isConsistent() throws ElfException {
        for (Group group : Group.values()) {
            long size = number(group, 0);
            if (size <= 0 || size > MOST) {
                return false;
            }
        }
        return new TypeSizes(
                        at(Group.TYPE, 1) + 8,
                        Map.of(
                                "PyCode_Type", at(Group.CODE, 9), "PyUnicode_Type", at(Group.TEXT, 0), "PyBytes_Type",
                                at(Group.BYTES, 2) + 1))
                .areThoseOf(elf);
    }

    private int at(Group group, int member) throws ElfException {
        long offset = number(group, member);
        return offset >= 0 && offset <= MOST ? (int) offset : -1;
    }

    private long number(Group group, int member) throws ElfException {
        int first = version.minor() == MINOR_3_14 ? group.in314 : group.in313;
        return runtime.number(FIRST_GROUP + 8L * (first + member));
    }
}
