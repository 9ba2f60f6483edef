package io.dyber.zernel.record;

import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.BpfMap;
import io.dyber.zernel.record.bpf.BpfObject;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The BPF objects that watch system calls, the scheduler and the page cache. A kernel may refuse some of them; the
/// others then do without. Not thread-safe.
final class KernelEvents implements AutoCloseable {
    private static final Set<String> SYSTEM_CALLS = Set.of("io", "io_open", "wait");

    private final KernelSide kernel;
    private final RecordOptions options;
    private final Schema schema;
    private final List<BpfObject> objects = new ArrayList<>();
    private Optional<BpfMap> threads = Optional.empty();
    private boolean hasSystemCalls;

    /// Loads what the options ask for.
    KernelEvents(KernelSide kernel, RecordOptions options, Schema schema) {
        this.kernel = kernel;
        this.options = options;
        this.schema = schema;
        boolean io = options.kinds().contains("io");
        boolean spans = options.kinds().contains("sched");
        boolean seesIoWait = (io || spans) && load(scheduler(spans), spans ? List.of("sched") : List.of());
        boolean seesPageCache = io && load(kernel.sharing("pages"), List.of());
        List<String> kinds =
                SYSTEM_CALLS.stream().filter(options.kinds()::contains).sorted().toList();
        if (!kinds.isEmpty()) {
            loadSystemCalls(kinds, seesIoWait, seesPageCache);
        }
    }

    private BpfObject scheduler(boolean spans) {
        return kernel.sharing("sched")
                .constant("wait_min_ns", options.waitMin().toNanos())
                .constant("record_spans", spans ? 1 : 0)
                .constant("name_off_cpu", spans ? kernel.newFunction("sched", "off-cpu", false) : 0);
    }

    private void loadSystemCalls(List<String> kinds, boolean seesIoWait, boolean seesPageCache) {
        BpfObject object = kernel.sharing("syscalls")
                .constant("wait_min_ns", options.waitMin().toNanos())
                .constant("sees_io_wait", seesIoWait ? 1 : 0)
                .constant("sees_page_cache", seesPageCache ? 1 : 0);
        hasSystemCalls = load(object, kinds);
        if (!hasSystemCalls) {
            return;
        }
        for (SystemCalls.SystemCall call : SystemCalls.all()) {
            if (kinds.contains(call.kind())) {
                int function = kernel.newFunction(call.kind(), call.name(), false);
                object.map("system_calls")
                        .put(call.number(), call.encode(Decoder.numberOf(schema, call.kind()), function));
            }
        }
    }

    /// False when the kernel refuses the object; then the kinds it was for are unavailable.
    private boolean load(BpfObject object, List<String> kinds) {
        threads.ifPresent(map -> object.share("threads", map));
        try {
            object.load();
        } catch (BpfException e) {
            object.close();
            kinds.forEach(kind -> kernel.unavailable().put(kind, e.getMessage()));
            return false;
        }
        threads = Optional.of(threads.orElseGet(() -> object.map("threads")));
        objects.add(object);
        return true;
    }

    /// Whether calls that map libraries are seen.
    boolean hasSystemCalls() {
        return hasSystemCalls;
    }

    void attach() {
        objects.forEach(BpfObject::attachAll);
    }

    void detach() {
        objects.forEach(BpfObject::detach);
    }

    @Override
    public void close() {
        objects.reversed().forEach(BpfObject::close);
    }
}
