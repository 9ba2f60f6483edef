package io.dyber.zernel.record.event;

import java.util.List;

/// The frames of a thread of a process as the kernel side saw them, innermost first.
///
/// @param runtime address of the state of the interpreter that the thread runs; 0 without
/// @param natives addresses of instructions; the first is where the thread was, the others return addresses
/// @param deeper whether there are Python frames beyond these
/// @param cut whether a Python frame could not be read, so that those beyond it are missing
public record StackFrames(
        int pid, long runtime, List<Long> natives, List<PythonFrame> pythons, boolean deeper, boolean cut) {
    public StackFrames {
        natives = List.copyOf(natives);
        pythons = List.copyOf(pythons);
    }

    /// A frame of Python.
    ///
    /// @param code address of the code object
    /// @param instruction address of the bytecode, or before 3.11 its number
    /// @param identity of the code object when it was seen, by which a later one at its address is told from it
    /// @param enteredFromC whether native code called it
    public record PythonFrame(long code, long instruction, int identity, boolean enteredFromC) {}
}
