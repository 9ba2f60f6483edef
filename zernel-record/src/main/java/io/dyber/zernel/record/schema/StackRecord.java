package io.dyber.zernel.record.schema;

/// Where the parts of a record that tells the frames of a stack lie (`struct wire_stack` of `bpf/stack.bpf.h`).
///
/// @param stack the number by which events know it
/// @param nativeFrames how many there are
/// @param runtime address of the interpreter's state
/// @param natives their addresses, 8 bytes each
/// @param pythons `struct python_frame`, one behind the other
public record StackRecord(
        int stack,
        int pythonFrames,
        int nativeFrames,
        int flags,
        int runtime,
        int natives,
        int pythons,
        int frameSize,
        int instruction,
        int identity,
        int frameFlags) {
    /// The kind of these records.
    public static final int KIND = 0xfffe;

    /// In `flags`: there are frames beyond those that are told.
    public static final int DEEPER = 1;

    /// In `flags`: a frame could not be read, so those beyond it are missing.
    public static final int UNREAD = 2;

    /// In the flags of a frame: native code called it.
    public static final int ENTERED_FROM_C = 1;

    /// Reads the layout.
    ///
    /// @throws IllegalArgumentException when a struct or a member is missing
    public static StackRecord of(Btf btf) {
        return new StackRecord(
                Wire.offset(btf, "wire_stack", "stack"),
                Wire.offset(btf, "wire_stack", "python_frames"),
                Wire.offset(btf, "wire_stack", "native_frames"),
                Wire.offset(btf, "wire_stack", "flags"),
                Wire.offset(btf, "wire_stack", "runtime"),
                Wire.offset(btf, "wire_stack", "native"),
                Wire.offset(btf, "wire_stack", "python"),
                btf.struct("python_frame").orElseThrow().size(),
                Wire.offset(btf, "python_frame", "instruction"),
                Wire.offset(btf, "python_frame", "identity"),
                Wire.offset(btf, "python_frame", "flags"));
    }
}
