package io.dyber.zernel.record.stack;

import io.dyber.zernel.record.event.StackFrames.PythonFrame;
import io.dyber.zernel.record.python.CodeObject;
import io.dyber.zernel.record.python.CodeReader;
import io.dyber.zernel.record.python.InterpreterLayout;
import io.dyber.zernel.record.python.Memory;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/// The code objects of one process, each read once. Not thread-safe.
final class PythonCode {
    private static final int MOST = 100_000;
    private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;
    private static final int UNIT = 2;

    private final InterpreterLayout layout;
    private final long codeType;
    private final Memory memory;
    private final Map<Key, Optional<CodeObject>> known = new HashMap<>();

    private record Key(long address, int identity) {}

    /// @param codeType address of `PyCode_Type` in the process
    PythonCode(InterpreterLayout layout, long codeType, Memory memory) {
        this.layout = layout;
        this.codeType = codeType;
        this.memory = memory;
    }

    /// The code that a frame ran; none when that is gone.
    Optional<CodeObject> of(PythonFrame frame) {
        Key key = new Key(frame.code(), frame.identity());
        Optional<CodeObject> code = known.get(key);
        if (code == null) {
            if (known.size() >= MOST) {
                known.clear();
            }
            code = read(frame);
            known.put(key, code);
        }
        return code;
    }

    private Optional<CodeObject> read(PythonFrame frame) {
        if (word(frame.code() + layout.code().type()) != codeType || identity(frame.code()) != frame.identity()) {
            return Optional.empty();
        }
        return CodeReader.read(memory, layout, frame.code());
    }

    /// What the kernel side made of the same words (`identity_of` of `bpf/stack.bpf.h`).
    private int identity(long code) {
        InterpreterLayout.Code at = layout.code();
        long hash = mix(0, word(code + at.file()));
        hash = mix(hash, word(code + at.name()));
        hash = mix(hash, word(code + at.lineTable()));
        hash = mix(hash, word(code + at.firstLine()) & 0xffffffffL);
        return (int) hash | 1;
    }

    private static long mix(long hash, long word) {
        long mixed = (hash ^ word) * MULTIPLIER;
        return mixed ^ mixed >>> 29;
    }

    private long word(long address) {
        return memory.word(address);
    }

    /// The line that a frame is at.
    OptionalInt line(PythonFrame frame, CodeObject code) {
        long offset = layout.frames().index()
                ? UNIT * (long) (int) frame.instruction()
                : frame.instruction() - frame.code() - layout.code().bytecode();
        return offset < 0 || offset > Integer.MAX_VALUE ? OptionalInt.empty() : code.line((int) offset);
    }
}
