package io.dyber.zernel.record.schema;

/// Where the parts of a record that tells the path of a file lie (`struct wire_file` of `bpf/files.bpf.h`).
///
/// @param names zero-terminated, `length` bytes
public record FileRecord(int file, int inode, int device, int mode, int form, int length, int names) {
    /// The kind of these records.
    public static final int KIND = 0xffff;

    /// The names of a path, the last first.
    public static final int PATH = 0;

    /// The last names of a path that is too long for the record.
    public static final int CUT = 1;

    /// The name of a file that is in no directory.
    public static final int NO_DIRECTORY = 2;

    /// A path as the program gave it.
    public static final int ASKED = 3;

    /// Reads the layout.
    ///
    /// @throws IllegalArgumentException when the struct or a member is missing
    public static FileRecord of(Btf btf) {
        return new FileRecord(
                offset(btf, "file"),
                offset(btf, "inode"),
                offset(btf, "device"),
                offset(btf, "mode"),
                offset(btf, "form"),
                offset(btf, "length"),
                offset(btf, "names"));
    }

    private static int offset(Btf btf, String member) {
        return Wire.offset(btf, "wire_file", member);
    }
}
