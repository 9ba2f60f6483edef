package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/// The kernels that handles mean. A handle nobody has named is put aside for [#takeUnknown].
public final class Kernels {
    private final Columns columns;
    private final Map<Handle, Integer> names = new HashMap<>();
    private final Set<Handle> asked = new HashSet<>();
    private final Queue<Unknown> unknown = new ConcurrentLinkedQueue<>();

    /// A handle whose kernel is to be found out.
    public record Unknown(int pid, long func) {}

    Kernels(Columns columns) {
        this.columns = columns;
    }

    void launched(Row row) {
        long func = row.get(columns.func);
        if (func == Row.NONE) {
            return;
        }
        Handle handle = new Handle(row.pid(), func);
        Integer name = names.get(handle);
        if (name != null) {
            row.put(columns.kernel, name);
        } else if (asked.add(handle)) {
            unknown.add(new Unknown(row.pid(), func));
        }
    }

    /// A call that gives a handle a name or makes it stand for another one's kernel.
    void named(Row row) {
        long func = row.get(columns.func);
        if (func == Row.NONE || row.get(columns.status) > 0) {
            return;
        }
        long name = row.get(columns.kernel);
        Integer known = name != Row.NONE ? Integer.valueOf((int) name) : names.get(new Handle(row.pid(), row.get(columns.addr)));
        if (known != null) {
            names.put(new Handle(row.pid(), func), known);
        }
    }

    /// The next handle whose kernel is not known, once each. Any thread may call this.
    public Optional<Unknown> takeUnknown() {
        return Optional.ofNullable(unknown.poll());
    }

    /// Says what was found out.
    ///
    /// @param name id of the text
    public void name(int pid, long func, int name) {
        names.putIfAbsent(new Handle(pid, func), name);
    }

    void forget(int pid) {
        names.keySet().removeIf(handle -> handle.pid() == pid);
        asked.removeIf(handle -> handle.pid() == pid);
    }
}
