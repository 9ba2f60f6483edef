package io.dyber.zernel.record.schema;

import java.util.List;
import java.util.stream.Stream;

/// Where the parts of a record that tells what a code object of Python says lie (`struct wire_code` of `bpf/stack.bpf.h`).
///
/// @param runtime address of the interpreter's state
/// @param parts each a copy of memory: where it was, how many bytes, and these; the code object itself is the first
public record CodeRecord(int runtime, List<Integer> parts) {
    /// The kind of these records.
    public static final int KIND = 0xfffd;

    /// In a part, where the memory was.
    public static final int ADDRESS = 0;

    /// In a part, how many bytes were read: none where they could not be.
    public static final int SIZE = 8;

    /// In a part, the bytes.
    public static final int DATA = 12;

    public CodeRecord {
        parts = List.copyOf(parts);
    }

    /// Reads the layout.
    ///
    /// @throws IllegalArgumentException when the struct or a member is missing
    public static CodeRecord of(Btf btf) {
        return new CodeRecord(
                Wire.offset(btf, "wire_code", "runtime"),
                Stream.of("code", "file_name", "function_name", "line_table")
                        .map(part -> Wire.offset(btf, "wire_code", part))
                        .toList());
    }
}
