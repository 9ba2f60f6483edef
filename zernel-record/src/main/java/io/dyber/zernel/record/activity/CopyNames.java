package io.dyber.zernel.record.activity;

import java.util.List;

/// What copies and fills are called, as in traces of PyTorch's profiler: `Memcpy HtoD (Pinned -> Device)`.
final class CopyNames {
    /// `CUpti_ActivityMemcpyKind`
    private static final List<String> DIRECTIONS =
            List.of("unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP");
    /// `CUpti_ActivityMemoryKind`
    private static final List<String> MEMORIES = List.of(
            "Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static");
    private static final int PAGEABLE = 1;
    private static final int PINNED = 2;

    private CopyNames() {}

    static String direction(int kind) {
        return at(DIRECTIONS, kind);
    }

    static String copy(int direction, int from, int to) {
        return "Memcpy " + direction(direction) + " (" + at(MEMORIES, from) + " -> " + at(MEMORIES, to) + ")";
    }

    static String fill(int memory) {
        return "Memset (" + at(MEMORIES, memory) + ")";
    }

    /// `pinned` or `pageable`, of the first of both that is memory of the host; empty when neither is.
    static String hostMemory(int from, int to) {
        int host = from == PAGEABLE || from == PINNED ? from : to;
        return host == PINNED ? "pinned" : host == PAGEABLE ? "pageable" : "";
    }

    private static String at(List<String> names, int number) {
        return number >= 0 && number < names.size() ? names.get(number) : names.getFirst();
    }
}
