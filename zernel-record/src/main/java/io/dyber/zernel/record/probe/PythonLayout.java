package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;

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

    private static final String COOKIE = "xdebugpy";
    private static final int FREE_THREADED = 16;

    /// That of an interpreter; none when it is of an unknown version, or free-threaded, whose objects are larger.
    static Optional<PythonLayout> of(ElfFile elf) throws ElfException {
        if (isFreeThreaded(elf)) {
            return Optional.empty();
        }
        return ofVersion(version(elf));
    }

    /// The version of an interpreter, `0x030b` for 3.11; 0 for one before that, which does not say it.
    static int version(ElfFile elf) throws ElfException {
        return (int) (number(elf, elf.object("Py_Version"), 0) >>> 16);
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

    /// From 3.13 on the interpreter's state begins with a description for debuggers (`_Py_DebugOffsets`).
    private static boolean isFreeThreaded(ElfFile elf) throws ElfException {
        OptionalLong runtime = elf.object("_PyRuntime");
        long cookie = ByteBuffer.wrap(COOKIE.getBytes(StandardCharsets.US_ASCII)).order(ByteOrder.LITTLE_ENDIAN).getLong();
        return number(elf, runtime, 0) == cookie && number(elf, runtime, FREE_THREADED) != 0;
    }

    /// Eight bytes at or behind an object of the file; 0 where there are none.
    private static long number(ElfFile elf, OptionalLong address, int behind) throws ElfException {
        OptionalLong offset = address.isPresent() ? elf.fileOffset(address.getAsLong() + behind) : OptionalLong.empty();
        if (offset.isEmpty()) {
            return 0;
        }
        byte[] bytes = elf.code(offset.getAsLong(), Long.BYTES);
        return bytes.length == Long.BYTES ? ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong() : 0;
    }
}
