package io.dyber.zernel.record.python;

/// Where an interpreter keeps what leads from a thread to its frames and from a frame to its code. Offsets are bytes from
/// the start of a structure; -1 is "not in this version".
///
/// A thread's frames are found so:
///
/// 1. `runtime + interpreters` points to an interpreter; `interpreter + nextInterpreter` to the next one, 0 after the last.
/// 2. `interpreter + threads` points to a thread state; `thread + nextThread` to the next one, 0 after the last. The one
///    wanted has `pthread_self()` at `threadId` (of glibc: the base of `fs`) and its interpreter at `threadInterpreter`.
///    A thread that has made or entered a sub-interpreter has one in each; the newest, which come first, may have no frame.
/// 3. `thread + frame` points to the innermost frame. Where `currentFrame` is not -1, it points to a `_PyCFrame`, which has
///    the pointer to the frame at `currentFrame`. 0 when no Python function runs.
/// 4. Each frame has its caller at [Frames#previous], 0 after the outermost.
///
/// @param runtime address of `_PyRuntime`, as linked
/// @param runtimeBytes its size; 0 where the file does not say
/// @param codeType address of `PyCode_Type`, as linked: what [Code#type] of each code object points to
public record InterpreterLayout(
        PythonVersion version, boolean freeThreaded, long runtime, long runtimeBytes, long codeType, Threads threads,
        Frames frames, Code code, Texts texts) {

    /// From `_PyRuntime` to a thread's innermost frame.
    ///
    /// @param interpreters in `_PyRuntimeState`: `interpreters.head`
    /// @param nextInterpreter in `PyInterpreterState`: `next`
    /// @param threads in `PyInterpreterState`: `threads.head`; in 3.10 `tstate_head`
    /// @param nextThread in `PyThreadState`: `next`
    /// @param threadInterpreter in `PyThreadState`: `interp`, which points back to the interpreter
    /// @param threadId in `PyThreadState`: `thread_id`
    /// @param frame in `PyThreadState`: `frame` in 3.10, `cframe` in 3.11 and 3.12, then `current_frame`
    /// @param currentFrame in `_PyCFrame`: `current_frame` (3.11, 3.12)
    public record Threads(
            int interpreters, int nextInterpreter, int threads, int nextThread, int threadInterpreter, int threadId, int frame,
            int currentFrame) {}

    /// A frame: `PyFrameObject` in 3.10, then `_PyInterpreterFrame`.
    ///
    /// @param code points to the code object, with tags. What it points to may be something else: only an object of type
    ///     [InterpreterLayout#codeType] is code
    /// @param codeTags bits to clear in that pointer
    /// @param previous points to the caller's frame
    /// @param instruction see `index`
    /// @param index whether `instruction` is four bytes with the number of the instruction, of two bytes each, from the start
    ///     of the code (3.10: -1 before the first); else it points to the instruction (3.11 and 3.12: one before the first)
    /// @param owner one byte that says who owns the frame
    /// @param foreignOwner owners from here on are of frames that are no Python function: `FRAME_OWNED_BY_CSTACK`, in 3.14 also
    ///     `FRAME_OWNED_BY_INTERPRETER`
    /// @param entry how to know that C called the function, so that there are native frames between it and its caller
    /// @param entryFlag one byte that is not 0 in such a frame, for [Entry#FLAG]
    public record Frames(
            int code, int codeTags, int previous, int instruction, boolean index, int owner, int foreignOwner, Entry entry,
            int entryFlag) {

        /// Marks the frames that C called.
        public enum Entry {
            /// All are (3.10).
            EVERY,
            /// Those with the flag (3.11).
            FLAG,
            /// Those whose previous frame has a foreign owner (since 3.12).
            AFTER_FOREIGN
        }
    }

    /// A code object.
    ///
    /// @param type `ob_type`, of any object
    /// @param size `Py_SIZE`: since 3.11 the number of two-byte units of bytecode
    /// @param name points to the text of `co_qualname`; in 3.10 of `co_name`
    /// @param file points to the text of `co_filename`
    /// @param firstLine `co_firstlineno`, four bytes
    /// @param lineTable points to the bytes of `co_linetable`
    /// @param bytecode `co_code_adaptive`, the instructions themselves; -1 in 3.10, whose frames do not point to them
    public record Code(int type, int size, int name, int file, int firstLine, int lineTable, int bytecode) {}

    /// `str` and `bytes`.
    ///
    /// @param length of a `str`, in characters
    /// @param state of a `str`: four bytes with `kindShift`, `compactBit`, `asciiBit`
    /// @param kindShift three bits from here on are the bytes of a character: 1, 2 or 4
    /// @param compactBit set when the characters follow the object; each text in a code object is so
    /// @param asciiBit set when all characters are ASCII
    /// @param ascii where the characters of a compact ASCII `str` begin
    /// @param compact where those of other compact texts begin
    /// @param bytesSize of `bytes`
    /// @param bytes where those of `bytes` begin
    public record Texts(
            int length, int state, int kindShift, int compactBit, int asciiBit, int ascii, int compact, int bytesSize,
            int bytes) {}
}
