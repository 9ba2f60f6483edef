package io.dyber.zernel.record.python;

import java.util.OptionalInt;

/// The code of a Python function, module or class body.
///
/// @param function `co_qualname` (`Net.forward`, `main.<locals>.<lambda>`); in 3.10, which has none, `co_name`
/// @param file `co_filename`: often a path, `<string>` for code of `exec`
/// @param firstLine the line of its `def`, or of its first decorator
public record CodeObject(String file, String function, int firstLine, LineTable lines) {
    /// The line of an instruction; none where it has no line of its own, or is outside of the code.
    ///
    /// @param offset in bytes from the start of the bytecode; -2, one instruction before it, in a frame that has yet to begin
    ///     (up to 3.12), which is on the first line
    public OptionalInt line(long offset) {
        return offset == -2 && firstLine >= 0 ? OptionalInt.of(firstLine) : lines.line(offset);
    }
}
