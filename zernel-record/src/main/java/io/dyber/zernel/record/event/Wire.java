package io.dyber.zernel.record.event;

/// Where the parts of a record lie: the common head, and the call records of `bpf/functions.bpf.c`.
///
/// @param textLength offset of the length of the text; 0 when nothing was read
public record Wire(int sp, int phase, int bad, int textLength, int slot, int text) {
    static final int START = 0;
    static final int DURATION = 8;
    static final int PID = 16;
    static final int TID = 20;
    static final int CPU = 24;
    static final int KIND = 28;
    static final int FUNCTION = 30;
    static final int COMM = 32;

    /// Reads the layout of the call records, and checks that the head is what this class says.
    ///
    /// @throws IllegalArgumentException when a struct or member is missing or elsewhere
    public static Wire of(Btf btf) {
        check(btf, "ts_ns", START);
        check(btf, "dur_ns", DURATION);
        check(btf, "pid", PID);
        check(btf, "tid", TID);
        check(btf, "cpu", CPU);
        check(btf, "__kind", KIND);
        check(btf, "__function", FUNCTION);
        check(btf, "comm", COMM);
        return new Wire(
                offset(btf, "wire_text", "sp"),
                offset(btf, "wire_text", "phase"),
                offset(btf, "wire_text", "bad"),
                offset(btf, "wire_text", "text_length"),
                offset(btf, "wire_text", "slot"),
                offset(btf, "wire_text", "text"));
    }

    private static void check(Btf btf, String member, int expected) {
        int actual = offset(btf, "wire_text", member);
        if (actual != expected) {
            throw new IllegalArgumentException(
                    "reading the record head: '" + member + "' lies at " + actual + ", not at " + expected);
        }
    }

    static int offset(Btf btf, String struct, String member) {
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
