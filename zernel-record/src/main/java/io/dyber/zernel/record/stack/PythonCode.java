package io.dyber.zernel.record.stack;

import io.dyber.zernel.record.event.StackFrames.PythonFrame;
import io.dyber.zernel.record.event.StackNames.CodeParts;
import io.dyber.zernel.record.process.Memory;
import io.dyber.zernel.record.process.ProcessMemory;
import io.dyber.zernel.record.python.CodeObject;
import io.dyber.zernel.record.python.CodeReader;
import io.dyber.zernel.record.python.InterpreterLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/// The code objects of one process, each read once. Not thread-safe.
final class PythonCode implements AutoCloseable {
    private static final int MOST = 100_000;
    private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;
    private static final int UNIT = 2;

    private final Pythons.Running python;
    private final InterpreterLayout layout;
    private final ProcessMemory memory;
    private final Map<Key, Optional<CodeObject>> known = new HashMap<>();

    private record Key(long address, int identity) {}

    PythonCode(int pid, Pythons.Running python) {
        this.python = python;
        this.layout = python.layout();
        this.memory = ProcessMemory.of(pid);
    }

    Pythons.Running python() {
        return python;
    }

    /// Takes in what a code object said when a frame ran it first. Names or tables that are longer than what was read then are
    /// read now.
    void learn(CodeParts code) {
        Memory then = (address, size) -> code.parts().stream()
                .filter(part -> address >= part.address() && address + size <= part.address() + part.bytes().length)
                .findFirst()
                .map(part -> {
                    int from = (int) (address - part.address());
                    return Arrays.copyOfRange(part.bytes(), from, from + size);
                })
                .orElseGet(() -> memory.read(address, size));
        put(new Key(code.address(), identity(then, code.address())), reader(then).read(code.address()));
    }

    private CodeReader reader(Memory from) {
        return new CodeReader(layout, python.bias(), from);
    }

    /// Python has no names with a zero character: what has was something else meanwhile.
    private static boolean hasNames(CodeObject code) {
        return code.file().indexOf(0) < 0 && code.function().indexOf(0) < 0;
    }

    private void put(Key key, Optional<CodeObject> code) {
        if (known.size() >= MOST) {
            known.clear();
        }
        known.put(key, code.filter(PythonCode::hasNames));
    }

    /// The code that a frame ran; none when that is gone.
    Optional<CodeObject> of(PythonFrame frame) {
        Key key = new Key(frame.code(), frame.identity());
        Optional<CodeObject> code = known.get(key);
        if (code == null) {
            code = read(frame);
            put(key, code);
        }
        return code.filter(PythonCode::hasNames);
    }

    /// It is the same code object only if it is so before and after.
    private Optional<CodeObject> read(PythonFrame frame) {
        return isThere(frame) ? reader(memory).read(frame.code()).filter(_ -> isThere(frame)) : Optional.empty();
    }

    private boolean isThere(PythonFrame frame) {
        return identity(memory, frame.code()) == frame.identity();
    }

    /// What the kernel side makes of the same words (`identity_of` of `bpf/stack.bpf.h`).
    private int identity(Memory from, long code) {
        InterpreterLayout.Code at = layout.code();
        long hash = mix(0, word(from, code + at.file()));
        hash = mix(hash, word(from, code + at.name()));
        hash = mix(hash, word(from, code + at.lineTable()));
        return (int) hash | 1;
    }

    private static long mix(long hash, long word) {
        long mixed = (hash ^ word) * MULTIPLIER;
        return mixed ^ mixed >>> 29;
    }

    /// 0 where it cannot be read.
    private static long word(Memory from, long address) {
        byte[] bytes = from.read(address, Long.BYTES);
        return bytes.length < Long.BYTES ? 0 : ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    /// The line that a frame is at.
    OptionalInt line(PythonFrame frame, CodeObject code) {
        return code.line(
                layout.frames().index()
                        ? UNIT * (long) (int) frame.instruction()
                        : frame.instruction() - frame.code() - layout.code().bytecode());
    }

    @Override
    public void close() {
        memory.close();
    }
}
