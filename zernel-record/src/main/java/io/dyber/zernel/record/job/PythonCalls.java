package io.dyber.zernel.record.job;

import io.dyber.zernel.record.elf.Glob;
import io.dyber.zernel.record.event.Interpretation;
import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.Texts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Calls of Python functions: keeps those that somebody wants.
final class PythonCalls implements Interpretation {
    /// Bits of a text's `state`: in CPython 3.11 to 3.14 behind `interned` (2 bits) and `kind` (3 bits).
    private static final int COMPACT_ASCII = 0b11 << 5;

    private static final String NOT_ASCII = "<not ASCII>";

    private final Columns columns;
    private final Texts texts;
    private final List<String> globs = new ArrayList<>();
    private final Map<Long, Boolean> wanted = new HashMap<>();

    PythonCalls(Columns columns, Texts texts) {
        this.columns = columns;
        this.texts = texts;
    }

    void want(String glob) {
        globs.add(glob);
    }

    @Override
    public long entered(int pid, long first) {
        return first & COMPACT_ASCII;
    }

    @Override
    public void complete(Row row, long note) {
        if (note != COMPACT_ASCII) {
            row.put(columns.name, texts.id(NOT_ASCII));
        }
        if (!wanted.computeIfAbsent(row.get(columns.name), this::isWanted)) {
            row.leaveOut();
        }
    }

    private boolean isWanted(long name) {
        String text = texts.text((int) name);
        return globs.stream().anyMatch(glob -> Glob.matches(glob, text));
    }
}
