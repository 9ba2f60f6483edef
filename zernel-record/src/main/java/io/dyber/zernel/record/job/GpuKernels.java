package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.StringDictionary;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;

/// The kernels that handles mean. A handle nobody has named is put aside for [#takeUnknown].
public final class GpuKernels {
    /// A text that fills its room in the record is probably cut off.
    private static final int LONGEST = 190;

    private final Columns columns;
    private final StringDictionary texts;
    private final UnaryOperator<String> readable;
    private final PerProcess<Integer> names = new PerProcess<>();
    private final PerProcess<Boolean> asked = new PerProcess<>();
    private final PerProcess<Boolean> askedByHost = new PerProcess<>();
    private final PerProcess<Long> namelessOfThreads = new PerProcess<>();
    private final Queue<Unknown> unknown = new ConcurrentLinkedQueue<>();

    private volatile long notFoundNanos = System.nanoTime() - Long.MAX_VALUE / 2;

    private final Set<Handle> sought = ConcurrentHashMap.newKeySet();

    private record Handle(int pid, long func) {}

    /// A handle whose kernel is to be found out.
    ///
    /// @param place an address that tells: the handle itself, or that of the host function it stands for
    /// @param name the name, if it has come up after the handle's first launch; else empty
    public record Unknown(int pid, long func, long place, String name) {}

    GpuKernels(Columns columns, StringDictionary texts, UnaryOperator<String> readable) {
        this.columns = columns;
        this.texts = texts;
        this.readable = readable;
    }

    void launched(Row row) {
        long func = row.get(columns.func);
        if (func == Row.NONE) {
            return;
        }
        Optional<Integer> name = names.get(row.pid(), func);
        if (name.isPresent()) {
            row.put(columns.kernel, name.get());
            if (!namelessOfThreads.isEmpty()) {
                Optional<Long> _ = namelessOfThreads.remove(row.pid(), row.tid());
            }
        } else {
            ask(row.pid(), func, func);
            namelessOfThreads.put(row.pid(), row.tid(), func);
        }
    }

    /// A call of the runtime has ended that the last launch of this thread was made by: what it was given stands for the
    /// same kernel. The driver's handles of a process that was running before say nothing themselves.
    void launchedBy(Row row) {
        long host = row.get(columns.func);
        Optional<Long> nameless = namelessOfThreads.remove(row.pid(), row.tid());
        if (host == Row.NONE || nameless.isEmpty() || names.get(row.pid(), nameless.get()).isPresent()) {
            return;
        }
        long func = nameless.get();
        if (func != host && askedByHost.putIfAbsent(row.pid(), func, true)) {
            String name = names.get(row.pid(), host).map(texts::text).orElse("");
            unknown.add(new Unknown(row.pid(), func, host, name));
        }
    }

    /// Says that nothing tells what a handle means but the call of the runtime around its launch. Any thread may call this.
    public void notFound(Unknown one) {
        notFoundNanos = System.nanoTime();
        sought.add(new Handle(one.pid(), one.func()));
    }

    /// Whether such a handle turned up in this last time, and has no name yet. Any thread may call this.
    public boolean seeks(long nanos) {
        return !sought.isEmpty() && System.nanoTime() - notFoundNanos < nanos;
    }

    private void ask(int pid, long func, long place) {
        if (asked.putIfAbsent(pid, func, true)) {
            unknown.add(new Unknown(pid, func, place, ""));
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
                names.put(row.pid(), func, texts.id(readable.apply(name)));
            }
        } else if (other != Row.NONE) {
            names.get(row.pid(), other)
                    .ifPresentOrElse(
                            known -> names.put(row.pid(), func, known), () -> ask(row.pid(), func, other));
        }
    }

    /// The next handle whose kernel is not known, once each. Any thread may call this.
    public Optional<Unknown> takeUnknown() {
        return Optional.ofNullable(unknown.poll());
    }

    /// Says what was found out.
    public void name(int pid, long func, String name) {
        boolean _ = names.putIfAbsent(pid, func, texts.id(name));
        sought.remove(new Handle(pid, func));
    }

    void forget(int pid) {
        names.forget(pid);
        sought.removeIf(handle -> handle.pid() == pid);
        asked.forget(pid);
        askedByHost.forget(pid);
        namelessOfThreads.forget(pid);
    }
}
