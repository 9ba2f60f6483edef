package io.dyber.zernel.record.python;

import io.dyber.zernel.record.process.Memory;
import io.dyber.zernel.record.python.InterpreterLayout.Frames;
import io.dyber.zernel.record.python.InterpreterLayout.Frames.Entry;
import io.dyber.zernel.record.python.InterpreterLayout.Threads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Walks the frames of a thread as the program in the kernel does, every loop bounded.
record FrameWalker(InterpreterLayout layout, long bias, Memory memory) {
    private static final int MOST_INTERPRETERS = 64;
    private static final int MOST_THREADS = 4096;
    private static final int MOST_FRAMES = 4096;

    /// A frame.
    ///
    /// @param code address of its code object
    /// @param offset of its instruction in the bytecode, in bytes
    /// @param entered whether C called the function
    record Frame(long code, long offset, boolean entered) {}

    /// The frames of a thread, innermost first; none when there is no such thread, or none that runs Python functions. Of a
    /// thread that more than one interpreter knows, those of the newest in which it runs functions.
    ///
    /// @param thread `pthread_self()`
    List<Frame> frames(long thread) {
        Threads threads = layout.threads();
        long interpreter = pointer(layout.runtime() + bias + threads.interpreters());
        for (int i = 0; interpreter != 0 && i < MOST_INTERPRETERS; i++) {
            long state = pointer(interpreter + threads.threads());
            for (int j = 0; state != 0 && j < MOST_THREADS; j++) {
                if (pointer(state + threads.threadId()) == thread
                        && pointer(state + threads.threadInterpreter()) == interpreter) {
                    List<Frame> frames = walk(state);
                    if (!frames.isEmpty()) {
                        return frames;
                    }
                }
                state = pointer(state + threads.nextThread());
            }
            interpreter = pointer(interpreter + threads.nextInterpreter());
        }
        return List.of();
    }

    /// The frames of a thread state.
    List<Frame> walk(long state) {
        long frame = pointer(state + layout.threads().frame());
        if (layout.threads().currentFrame() >= 0) {
            frame = pointer(frame + layout.threads().currentFrame());
        }
        List<Frame> found = new ArrayList<>();
        Frames frames = layout.frames();
        for (int i = 0; frame != 0 && i < MOST_FRAMES; i++) {
            long previous = pointer(frame + frames.previous());
            if (!isForeign(frame)) {
                long code = pointer(frame + frames.code()) & ~(long) frames.codeTags();
                if (pointer(code + layout.code().type()) == layout.codeType() + bias) {
                    found.add(new Frame(code, offset(frame, code), isEntered(frame, previous)));
                }
            }
            frame = previous;
        }
        return found;
    }

    private long offset(long frame, long code) {
        long instruction = pointer(frame + layout.frames().instruction());
        return layout.frames().index() ? 2L * (int) instruction : instruction - (code + layout.code().bytecode());
    }

    private boolean isForeign(long frame) {
        Frames frames = layout.frames();
        return frames.foreignOwner() >= 0 && octet(frame + frames.owner()) >= frames.foreignOwner();
    }

    private boolean isEntered(long frame, long previous) {
        return switch (layout.frames().entry()) {
            case Entry.EVERY -> true;
            case Entry.FLAG -> octet(frame + layout.frames().entryFlag()) != 0;
            case Entry.AFTER_FOREIGN -> previous != 0 && isForeign(previous);
        };
    }

    private int octet(long address) {
        byte[] bytes = memory.read(address, 1);
        return bytes.length == 1 ? bytes[0] : 0;
    }

    private long pointer(long address) {
        byte[] bytes = memory.read(address, Long.BYTES);
        return bytes.length == Long.BYTES ? ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong() : 0;
    }
}
