package io.dyber.zernel.record.schema;

import java.util.Optional;

/// What a field of an event struct means: the typedefs of `bpf/zernel.bpf.h`.
public enum FieldType {
    TIME("z_time_ns", ColumnType.BIGINT, "ns"),
    DURATION("z_duration_ns", ColumnType.BIGINT, "ns"),
    BYTES("z_bytes", ColumnType.BIGINT, "bytes"),
    ADDRESS("z_addr", ColumnType.BIGINT, ""),
    COUNT("z_count", ColumnType.BIGINT, ""),
    NUMBER("z_number", ColumnType.BIGINT, ""),
    PROCESS("z_pid", ColumnType.BIGINT, ""),
    THREAD("z_tid", ColumnType.BIGINT, ""),
    CPU("z_cpu", ColumnType.BIGINT, ""),
    DESCRIPTOR("z_fd", ColumnType.BIGINT, ""),
    STATUS("z_status", ColumnType.BIGINT, ""),
    TEXT("z_text", ColumnType.VARCHAR, ""),
    FILE("z_file", ColumnType.VARCHAR, ""),
    STACK("z_stack", ColumnType.VARCHAR, "");

    private final String typedef;
    private final ColumnType columnType;
    private final String unit;

    FieldType(String typedef, ColumnType columnType, String unit) {
        this.typedef = typedef;
        this.columnType = columnType;
        this.unit = unit;
    }

    public ColumnType columnType() {
        return columnType;
    }

    /// `ns`, `bytes` or empty.
    public String unit() {
        return unit;
    }

    static Optional<FieldType> ofTypedef(String name) {
        for (FieldType type : values()) {
            if (type.typedef.equals(name)) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }
}
