package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.Texts;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;

/// The kernels that handles mean. A handle nobody has named is put aside for [#takeUnknown].
public final class Kernels {
    /// A text that fills its room in the record is probably cut off.
    private static final int LONGEST = 190;

    private final Columns columns;
    private final Texts texts;
    private final UnaryOperator<String> readable;
    private final Map<Handle, Integer> names = new HashMap<>();
    private final Set<Handle> asked = new HashSet<>();
    private final Queue<Unknown> unknown = new ConcurrentLinkedQueue<>();

    /// A handle whose kernel is to be found out.
    ///
    /// @param place an address that tells: the handle itself, or that of the host function it stands for
    public record Unknown(int pid, long func, long place) {}

    Kernels(Columns columns, Texts texts, UnaryOperator<String> readable) {
        this.columns = columns;
        this.texts = texts;
        this.readable = readable;
    }

    void launched(Row row) {
        long func = row.get(columns.func);
        if (func == Row.NONE) {
            return;
        }
        Integer name = names.get(new Handle(row.pid(), func));
        if (name != null) {
            row.put(columns.kernel, name);
        } else {
            ask(row.pid(), func, func);
        }
    }

    private void ask(int pid, long func, long place) {
        if (asked.add(new Handle(pid, func))) {
            unknown.add(new Unknown(pid, func, place));
        }
    }

    /// A call that gives a handle a name, or makes it stand for another one's kernel or a host function's.
    void named(Row row) {
        long func = row.get(columns.func);
        if (func == Row.NONE || row.get(columns.status) > 0) {
            return;
        }
        long mangled = row.get(columns.kernel);
        long other = row.get(columns.addr);
        if (mangled != Row.NONE) {
            String name = texts.text((int) mangled);
            if (name.length() < LONGEST) {
                names.put(new Handle(row.pid(), func), texts.id(readable.apply(name)));
            }
        } else if (other != Row.NONE) {
            Integer known = names.get(new Handle(row.pid(), other));
            if (known != null) {
                names.put(new Handle(row.pid(), func), known);
            } else {
                ask(row.pid(), func, other);
            }
        }
    }

    /// The next handle whose kernel is not known, once each. Any thread may call this.
    public Optional<Unknown> takeUnknown() {
        return Optional.ofNullable(unknown.poll());
    }

    /// Says what was found out.
    public void name(int pid, long func, String name) {
        names.putIfAbsent(new Handle(pid, func), texts.id(name));
    }

    void forget(int pid) {
        names.keySet().removeIf(handle -> handle.pid() == pid);
        asked.removeIf(handle -> handle.pid() == pid);
    }
}
