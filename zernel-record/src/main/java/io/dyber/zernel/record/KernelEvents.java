package io.dyber.zernel.record;

import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.BpfObject;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Schema;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The BPF objects that watch system calls, the scheduler and the page cache. A kernel may refuse some of them; the
/// others then do without. Not thread-safe.
final class KernelEvents implements AutoCloseable {
    /// Of these, what is short is counted and no event.
    static final Set<String> KINDS = Set.of("io", "wait", "sched");

    private static final Set<String> SYSTEM_CALLS = Set.of("io", "io_open", "wait");

    private final KernelSide kernel;
    private final RecordOptions options;
    private final Schema schema;
    private final List<BpfObject> objects = new ArrayList<>();
    private Optional<BpfObject> threads = Optional.empty();
    private final List<String> missing = new ArrayList<>();
    private boolean watchesLoads = true;

    /// Loads what the options ask for.
    KernelEvents(KernelSide kernel, RecordOptions options, Schema schema) {
        this.kernel = kernel;
        this.options = options;
        this.schema = schema;
        boolean io = options.kinds().contains("io");
        boolean spans = options.kinds().contains("sched");
        boolean seesIoWait = (io || spans)
                && loadThreads(
                        scheduler(spans, io), spans ? List.of("sched") : List.of(), io ? "io_ns and page faults" : "");
        boolean seesPageCache =
                io && loadThreads(watchingThreads("pages"), List.of(), "miss_bytes and page faults");
        if (io) {
            loadRings();
        }
        List<String> kinds =
                SYSTEM_CALLS.stream().filter(options.kinds()::contains).sorted().toList();
        if (kinds.isEmpty() || !loadSystemCalls(kinds, seesIoWait, seesPageCache)) {
            loadLoads();
        }
    }

    private void loadLoads() {
        BpfObject object = kernel.sharingLoads("loads");
        watchesLoads = load(object, List.of(), "");
        if (!watchesLoads) {
            missing.add("libraries that are loaded late are found late: the kernel does not let system calls be watched");
        }
    }

    /// Whether processes that load code are heard of.
    boolean watchesLoads() {
        return watchesLoads;
    }

    /// An object that shares what it knows of threads with the others of its sort.
    private BpfObject watchingThreads(String name) {
        return watchingThreads(kernel.sharing(name));
    }

    private BpfObject watchingThreads(BpfObject object) {
        threads.ifPresent(first -> object.share("threads", first.map("threads")));
        return object;
    }

    private BpfObject scheduler(boolean spans, boolean io) {
        return watchingThreads("sched")
                .constant("wait_min_ns", options.waitMin().toNanos())
                .constant("record_spans", spans ? 1 : 0)
                .constant("name_off_cpu", spans ? kernel.newFunction("sched", "off-cpu", true) : 0)
                .constant("name_page_fault", io ? kernel.newFunction("io", "page_fault", true) : 0);
    }

    private void loadRings() {
        BpfObject object = kernel.sharing("uring");
        if (load(object, List.of(), "reads through io_uring")) {
            for (SystemCalls.RingOperation operation : SystemCalls.ringReads()) {
                object.map("operations")
                        .put(operation.opcode(), number(kernel.newFunction("io", operation.name(), true)));
            }
        }
    }

    private static byte[] number(int value) {
        return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array();
    }

    private boolean loadSystemCalls(List<String> kinds, boolean seesIoWait, boolean seesPageCache) {
        BpfObject object = watchingThreads(kernel.sharingLoads("syscalls"))
                .constant("wait_min_ns", options.waitMin().toNanos())
                .constant("sees_io_wait", seesIoWait ? 1 : 0)
                .constant("sees_page_cache", seesPageCache ? 1 : 0);
        if (!loadThreads(object, kinds, "")) {
            return false;
        }
        for (SystemCalls.SystemCall call : SystemCalls.all()) {
            if (kinds.contains(call.kind())) {
                int function = kernel.newFunction(call.kind(), call.name(), true);
                object.map("system_calls")
                        .put(call.number(), call.encode(Decoder.numberOf(schema, call.kind()), function));
            }
        }
        return true;
    }

    /// False when the kernel refuses the object; then the kinds it was for are unavailable.
    ///
    /// @param part what of kind `io` it was for, if anything
    private boolean load(BpfObject object, List<String> kinds, String part) {
        try {
            object.load();
        } catch (BpfException e) {
            object.close();
            kinds.forEach(kind -> kernel.unavailable().put(kind, e.getMessage()));
            if (!part.isEmpty()) {
                missing.add(part + " of kind 'io' are not there: " + e.getMessage());
            }
            return false;
        }
        objects.add(object);
        return true;
    }

    private boolean loadThreads(BpfObject object, List<String> kinds, String part) {
        boolean loaded = load(object, kinds, part);
        if (loaded && threads.isEmpty()) {
            threads = Optional.of(object);
        }
        return loaded;
    }

    /// What the kernel refused without refusing a kind, with the reasons.
    List<String> missing() {
        return missing;
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
