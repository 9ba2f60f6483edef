package io.dyber.zernel.record.event;

import io.dyber.zernel.record.schema.Btf;
import io.dyber.zernel.record.schema.FileRecord;
import io.dyber.zernel.record.schema.Wire;
import java.nio.ByteBuffer;

/// A process mapped a file as code (`struct load` of `bpf/loads.bpf.h`).
///
/// @param nanos on CLOCK_MONOTONIC
/// @param device as the kernel numbers devices: major number above the lowest 20 bits
/// @param path in the process's mount namespace; begins with `...` when it is too long for the record
/// @param held whether the process was stopped for it
/// @param program whether it is the program of the process
public record Load(int pid, long nanos, int device, long inode, String path, boolean held, boolean program) {
    private static final int HELD = 1;
    private static final int PROGRAM = 2;

    /// Where the parts of these records lie.
    public record Layout(FileRecord file, int time, int pid, int how) {
        /// Reads the layout.
        ///
        /// @throws IllegalArgumentException when the struct or a member is missing
        public static Layout of(Btf btf) {
            return new Layout(
                    FileRecord.of(btf),
                    Wire.offset(btf, "wire_file", "ts_ns"),
                    Wire.offset(btf, "wire_file", "pid"),
                    Wire.offset(btf, "load", "how"));
        }
    }

    /// Reads a record.
    public static Load read(Layout layout, ByteBuffer data, int at) {
        int how = data.getInt(at + layout.how());
        return new Load(
                data.getInt(at + layout.pid()),
                data.getLong(at + layout.time()),
                data.getInt(at + layout.file().device()),
                data.getLong(at + layout.file().inode()),
                FilePaths.path(layout.file(), data, at),
                (how & HELD) != 0,
                (how & PROGRAM) != 0);
    }

    /// As `/proc/PID/maps` names the file.
    public String identity() {
        return String.format("%02x:%02x:%s", device >>> 20, device & 0xfffff, Long.toUnsignedString(inode));
    }
}
