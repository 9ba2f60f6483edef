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

    private final Runnable news;
    private final Columns columns;
    private final StringDictionary texts;
    private final UnaryOperator<String> readable;
    private final PerProcess<Integer> names = new PerProcess<>();
    private final PerProcess<Written> unread = new PerProcess<>();
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
    /// @param written where the process has the name, mangled; 0 where that is not known
    /// @param start of what is written there, as far as a probe could read it
    public record Unknown(int pid, long func, long place, String name, long written, String start) {}

    /// A name that a probe could not read, as nothing had touched its page yet, or that is longer than its record.
    ///
    /// @param start text of its start, or [Row#NONE]
    private record Written(long at, long start) {
        /// Whether that is another kernel's: one that is told each time it is needed may lie elsewhere then.
        boolean differs(Written other) {
            return start == Row.NONE ? at != other.at : start != other.start;
        }
    }

    /// @param news called when there is one more for [#takeUnknown]
    GpuKernels(Columns columns, StringDictionary texts, UnaryOperator<String> readable, Runnable news) {
        this.news = news;
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
            unknown.add(new Unknown(row.pid(), func, host, name, 0, ""));
            news.run();
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
            Optional<Written> written = unread.get(pid, func);
            String start = written.filter(one -> one.start != Row.NONE)
                    .map(one -> texts.text((int) one.start))
                    .orElse("");
            unknown.add(new Unknown(pid, func, place, "", written.map(Written::at).orElse(0L), start));
            news.run();
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
        long written = row.get(columns.src);
        String name = mangled == Row.NONE ? "" : texts.text((int) mangled);
        if (!name.isEmpty() && name.length() < LONGEST) {
            names.put(row.pid(), func, texts.id(readable.apply(name)));
        } else if (written != Row.NONE) {
            written(row.pid(), func, new Written(written, mangled));
        } else if (mangled == Row.NONE && other != Row.NONE) {
            standsFor(row.pid(), func, other);
        }
    }

    /// Most kernels of a library are never launched: the name is read when this one is.
    private void written(int pid, long func, Written name) {
        Optional<Written> before = unread.get(pid, func);
        if (before.isEmpty() || before.get().differs(name)) {
            unread.put(pid, func, name);
            Optional<Integer> _ = names.remove(pid, func);
            Optional<Boolean> _ = asked.remove(pid, func);
        }
    }

    private void standsFor(int pid, long func, long other) {
        Optional<Integer> name = names.get(pid, other);
        Optional<Written> written = unread.get(pid, other);
        if (name.isPresent()) {
            names.put(pid, func, name.get());
        } else if (written.isPresent()) {
            written(pid, func, written.get());
        } else {
            ask(pid, func, other);
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
        unread.forget(pid);
        sought.removeIf(handle -> handle.pid() == pid);
        asked.forget(pid);
        askedByHost.forget(pid);
        namelessOfThreads.forget(pid);
    }
}
