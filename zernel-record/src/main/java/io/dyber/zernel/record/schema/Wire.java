package io.dyber.zernel.record.schema;

import java.util.List;

/// Where the parts of a record lie. All begin alike; then those of kernel-side events are as their struct says, and those
/// of calls as `bpf/functions.bpf.c` does.
///
/// @param slot offset of what was read of a call on entry, or of a whole call on return
/// @param returnSlot offset of what was read on return, in a return record
/// @param textLength offset of the length of the text; 0 when nothing was read
public record Wire(int slot, int returnSlot, int textLength, int text) {
    public static final int START = 0;
    public static final int DURATION = 8;
    public static final int PID = 16;
    public static final int TID = 20;
    public static final int CPU = 24;
    public static final int KIND = 28;
    public static final int FUNCTION = 30;
    public static final int COMM = 32;

    /// In a call record, the start; of a return the end.
    public static final int TIME = START;

    /// In a call record, the stack pointer; of a whole call the end.
    public static final int STACK_POINTER = DURATION;
    public static final int END = DURATION;

    /// In a call record, [#RETURNED], [#UNENDED] and a bit for each capture that could not be read.
    public static final int CALL = KIND;

    public static final int RETURNED = 0x8000;
    public static final int UNENDED = 0x4000;

    /// Reads the layout of the call records, and checks that the heads are what this class says.
    ///
    /// @throws IllegalArgumentException when a struct or member is missing or elsewhere
    public static Wire of(Btf btf) {
        check(btf, "call", "ts_ns", START);
        check(btf, "call", "dur_ns", DURATION);
        check(btf, "call", "__kind", KIND);
        check(btf, "call", "comm", COMM);
        for (String struct : List.of("call", "wire_text", "wire_return")) {
            check(btf, struct, "pid", PID);
            check(btf, struct, "tid", TID);
            check(btf, struct, "cpu", CPU);
            check(btf, struct, "__function", FUNCTION);
        }
        check(btf, "wire_text", "time", TIME);
        check(btf, "wire_text", "sp", STACK_POINTER);
        check(btf, "wire_text", "__call", CALL);
        check(btf, "wire_text", "comm", COMM);
        return new Wire(
                offset(btf, "wire_text", "slot"),
                offset(btf, "wire_return", "slot"),
                offset(btf, "wire_text", "text_length"),
                offset(btf, "wire_text", "text"));
    }

    private static void check(Btf btf, String struct, String member, int expected) {
        int actual = offset(btf, struct, member);
        if (actual != expected) {
            throw new IllegalArgumentException(
                    "reading struct '" + struct + "': '" + member + "' lies at " + actual + ", not at " + expected);
        }
    }

    public static int offset(Btf btf, String struct, String member) {
        Btf.Struct type = btf.struct(struct)
                .orElseThrow(() -> new IllegalArgumentException("reading the BPF object: no struct '" + struct + "'"));
        return type.members().stream()
                .filter(candidate -> candidate.name().equals(member))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "reading the BPF object: struct '" + struct + "' has no member '" + member + "'"))
                .offset();
    }
}
