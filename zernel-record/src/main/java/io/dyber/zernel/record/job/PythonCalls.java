package io.dyber.zernel.record.job;

import io.dyber.zernel.record.elf.Glob;
import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.RowEnricher;
import io.dyber.zernel.record.event.StringDictionary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Calls of Python functions: keeps those that were asked for.
final class PythonCalls implements RowEnricher {
    /// Bits of a text's `state`: in CPython 3.11 to 3.14 behind `interned` (2 bits) and `kind` (3 bits).
    private static final int COMPACT_ASCII = 0b11 << 5;

    private static final String NOT_ASCII = "<not ASCII>";

    private final Columns columns;
    private final StringDictionary texts;
    private final List<Wanted> all = new ArrayList<>();
    private final Map<Long, Optional<Wanted>> known = new HashMap<>();

    private record Wanted(String glob, String role) {}

    PythonCalls(Columns columns, StringDictionary texts) {
        this.columns = columns;
        this.texts = texts;
    }

    void want(String glob, String role) {
        all.add(new Wanted(glob, role));
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
        Optional<Wanted> wanted = known.computeIfAbsent(row.get(columns.name), this::wanted);
        if (wanted.isEmpty()) {
            row.leaveOut();
        } else if (!wanted.get().role.isEmpty()) {
            row.put(columns.role, texts.id(wanted.get().role));
        }
    }

    /// Of several that mean it, the first that gives it a role, as `Trainer.*` may be wanted beside `Trainer.step`.
    private Optional<Wanted> wanted(long name) {
        String text = texts.text((int) name);
        List<Wanted> matching = all.stream().filter(one -> Glob.matches(one.glob, text)).toList();
        return matching.stream().filter(one -> !one.role.isEmpty()).findFirst().or(() -> matching.stream().findFirst());
    }
}
