package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.RowEnricher;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import java.util.function.UnaryOperator;

/// What is known of the recorded job. It belongs to the decoding thread.
public final class Job {
    private final Columns columns;
    private final Processes processes = new Processes();
    private final GpuKernels kernels;
    private final Graphs graphs;
    private final DeviceMemory deviceMemory;
    private final DeviceMemory torchMemory;
    private final HostMemory hostMemory;
    private final Communicators communicators;
    private final Runnable news;
    private final int exec;
    private final int fork;
    private final PythonCalls pythonCalls;
    private final GarbageCollections collections;

    /// Of which nobody asks for news.
    ///
    /// @param readable makes the name of a kernel one that people read
    public Job(Schema schema, StringDictionary texts, UnaryOperator<String> readable) {
        this(schema, texts, readable, () -> {});
    }

    /// @param readable makes the name of a kernel one that people read
    /// @param news called by the decoding thread when a process has begun or ended, or a kernel has no name yet
    public Job(Schema schema, StringDictionary texts, UnaryOperator<String> readable, Runnable news) {
        this.news = news;
        this.columns = new Columns(schema);
        this.exec = texts.id("exec");
        this.fork = texts.id("fork");
        this.kernels = new GpuKernels(columns, texts, readable, news);
        this.graphs = new Graphs(columns);
        this.deviceMemory = new DeviceMemory(columns, processes);
        this.torchMemory = new DeviceMemory(columns, processes);
        this.hostMemory = new HostMemory(columns, processes, texts);
        this.communicators = new Communicators(columns, texts);
        this.pythonCalls = new PythonCalls(columns, texts);
        this.collections = new GarbageCollections(columns, texts);
    }

    /// A process was already running when it began to be recorded: what it did before is not known.
    public void adopted(int pid) {
        processes.adopted(pid);
    }

    /// The interpretation of `process` rows: a process that runs another program, or is made under a number used before,
    /// holds nothing of what was there. Ends are not looked at but told by [#gone]: rows of other rings may be decoded
    /// after them.
    public RowEnricher processes() {
        return (row, _) -> {
            long name = row.get(columns.name);
            if (name == exec) {
                forget(row.pid());
            } else if (name == fork) {
                forget((int) row.get(columns.childPid));
            }
            if (row.get(columns.childTid) != Row.NONE) {
                int process = (int) (name == fork ? row.get(columns.childPid) : row.pid());
                deviceMemory.threadBegan(process, (int) row.get(columns.childTid));
            }
            news.run();
        };
    }

    /// A process has ended, and nothing of it will come any more.
    public void gone(int pid) {
        forget(pid);
    }

    private void forget(int pid) {
        processes.began(pid);
        kernels.forget(pid);
        graphs.forget(pid);
        deviceMemory.forget(pid);
        torchMemory.forget(pid);
        hostMemory.forget(pid);
        communicators.forget(pid);
        collections.forget(pid);
    }

    /// The names of kernels, also for those who find them out elsewhere.
    public GpuKernels kernels() {
        return kernels;
    }

    /// Calls of Python functions with such names are wanted, and no others unless they are wanted too.
    ///
    /// @param role of them in a step; empty for none
    public void wantPython(String glob, String role) {
        pythonCalls.want(glob, role);
    }

    private RowEnricher launches() {
        return new RowEnricher() {
            @Override
            public void complete(Row row, long note) {
                kernels.launched(row);
                graphs.launched(row);
            }

            @Override
            public void completeCovered(Row row) {
                kernels.launchedBy(row);
            }
        };
    }

    /// Launches and what PyTorch's allocator does are recorded from now on, or no longer: what was handed out, and which
    /// graph a launch went to, is known no more.
    public void detail(boolean recorded) {
        torchMemory.forgetAll();
        graphs.countLaunches(recorded);
    }

    /// What to make of calls that mean this.
    public RowEnricher interpretation(CallMeaning meaning) {
        return switch (meaning) {
            case NOTHING, WAIT -> RowEnricher.NONE;
            case LAUNCH -> launches();
            case KERNEL_NAME -> (row, _) -> kernels.named(row);
            case CAPTURE_BEGIN -> (row, _) -> graphs.begin(row);
            case CAPTURE_END -> (row, _) -> graphs.end(row);
            case INSTANTIATION -> (row, _) -> graphs.instantiated(row);
            case GRAPH_LAUNCH -> (row, _) -> graphs.graphLaunched(row);
            case ALLOCATION -> (row, _) -> deviceMemory.allocated(row);
            case RELEASE -> deviceMemory.release();
            case TORCH_ALLOCATION -> (row, _) -> torchMemory.allocated(row);
            case TORCH_RELEASE -> torchMemory.release();
            case CURRENT_DEVICE -> (row, _) -> deviceMemory.deviceChosen(row);
            case COPY -> (row, _) -> hostMemory.copied(row);
            case PIN -> (row, _) -> hostMemory.pinned(row);
            case UNPIN -> (row, _) -> hostMemory.unpinned(row);
            case COMMUNICATOR -> (row, _) -> communicators.made(row);
            case COMMUNICATORS -> (row, _) -> communicators.madeTogether(row);
            case CHILD_COMMUNICATOR -> (row, _) -> communicators.derived(row);
            case RANK, RANKS -> (row, _) -> communicators.described(row);
            case END_OF_COMMUNICATOR -> (row, _) -> communicators.ended(row);
            case COLLECTIVE -> (row, _) -> communicators.used(row);
            case GROUP_BEGIN -> (row, _) -> communicators.groupBegun(row);
            case GROUP_END -> (row, _) -> communicators.groupEnded(row);
            case PYTHON_CALL -> pythonCalls;
            case COLLECTION_ASKED -> (row, _) -> collections.asked(row.pid());
            case COLLECTION_BEGIN -> (row, _) -> collections.begun(row);
            case COLLECTION_END -> (row, _) -> collections.ended(row);
            case FULL_COLLECTION_END -> (row, _) -> collections.endedFull(row);
        };
    }
}
