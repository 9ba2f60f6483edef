package io.dyber.zernel.record.python;

import io.dyber.zernel.record.process.Memory;
import io.dyber.zernel.record.python.InterpreterLayout.Code;
import io.dyber.zernel.record.python.InterpreterLayout.Threads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// Whether an interpreter that runs is laid out as its layout says. An interpreter with changed structures of the usual sizes
/// is found out so. To be asked once a thread of the process has run Python code: before, nothing is where it will be.
///
/// @param bias how far from where it was linked the interpreter was loaded
public record LayoutCheck(InterpreterLayout layout, long bias, Memory memory) {
    /// `tp_members` of `PyTypeObject`, behind its `ob_type`.
    private static final int MEMBERS = 232;

    /// `PyMemberDef`: name, type, offset, flags, documentation.
    private static final int MEMBER = 40;

    private static final int MEMBER_OFFSET = 16;
    private static final int MOST_MEMBERS = 64;
    private static final int LONGEST_NAME = 24;

    /// `interpreters.main` of `_PyRuntimeState`, behind `interpreters.head`.
    private static final int MAIN = 8;

    private static final int MOST_INTERPRETERS = 4096;

    /// What is not as the layout says; none when all is, as far as can be seen.
    public Optional<String> problem() {
        Map<String, Long> members = members();
        Code code = layout.code();
        String name = layout.code().bytecode() < 0 ? "co_name" : "co_qualname";
        Map<String, Integer> expected = Map.of(
                name, code.name(), "co_filename", code.file(), "co_firstlineno", code.firstLine(), "co_linetable",
                code.lineTable());
        for (Map.Entry<String, Integer> member : expected.entrySet()) {
            if (members.getOrDefault(member.getKey(), -1L) != (long) member.getValue()) {
                return Optional.of("its code objects have '" + member.getKey() + "' elsewhere");
            }
        }
        return threadsFit() ? Optional.empty() : Optional.of("its threads are not where they are expected");
    }

    /// Offsets of the members of code objects that Python programs can see.
    private Map<String, Long> members() {
        Map<String, Long> members = new HashMap<>();
        long at = pointer(layout.codeType() + bias + layout.code().type() + MEMBERS);
        for (int i = 0; i < MOST_MEMBERS && at != 0; i++, at += MEMBER) {
            long name = pointer(at);
            if (name == 0) {
                break;
            }
            members.put(name(name), pointer(at + MEMBER_OFFSET));
        }
        return members;
    }

    /// Whether the list of interpreters ends with the main one, which has a thread whose interpreter it is.
    private boolean threadsFit() {
        Threads threads = layout.threads();
        long interpreters = layout.runtime() + bias + threads.interpreters();
        long main = pointer(interpreters + MAIN);
        long last = pointer(interpreters);
        for (int i = 0; i < MOST_INTERPRETERS && last != 0 && last != main; i++) {
            last = pointer(last + threads.nextInterpreter());
        }
        long thread = main == 0 ? 0 : pointer(main + threads.threads());
        return last == main && thread != 0 && pointer(thread + threads.threadInterpreter()) == main;
    }

    private String name(long address) {
        byte[] bytes = memory.read(address, LONGEST_NAME);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.ISO_8859_1);
    }

    private long pointer(long address) {
        byte[] bytes = memory.read(address, Long.BYTES);
        return bytes.length < Long.BYTES ? 0 : ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }
}
