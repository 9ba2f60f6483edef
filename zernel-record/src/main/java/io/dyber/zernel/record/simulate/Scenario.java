package io.dyber.zernel.record.simulate;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// What is wrong with a simulated training job.
public enum Scenario {
    HEALTHY("the GPU is busy: data, launches and collectives are ready before it needs them"),
    DATA_BOUND_CPU("the workers' transforms are too slow, on every CPU that the job has"),
    DATA_BOUND_STORAGE("the workers wait for reads of a slow file system"),
    TOO_FEW_WORKERS("one or two workers cannot keep up, while CPUs are idle"),
    WORKER_STARTUP("each epoch starts its workers again"),
    LAUNCH_BOUND("many small kernels, launched more slowly than they run"),
    SYNC_BOUND(".item() stops the program in the middle of each step, and the GPU runs dry"),
    PAGEABLE_COPIES("large batches are copied from pageable memory, and the program waits for that"),
    STRAGGLER_RANK("one rank is late at the collectives: its data, its GPU or its CPU is slower", 4),
    COMM_BOUND("gradients are reduced slowly, after the backward pass, and the program waits for that", 2),
    COMM_OVERLAPPED("the all-reduce takes longer than the backward pass that should hide it, and only the GPU waits", 2),
    SMALL_COLLECTIVES("gradients are reduced in very many small pieces", 2),
    HANG("one rank never comes to a collective, and the others wait to the end of the recording", 4),
    MEMORY_LEAK("each step keeps some of its device memory"),
    NEAR_OOM("hardly any device memory is left"),
    FRAGMENTATION("the allocator keeps memory that no later request fits"),
    ALLOCATOR_CHURN("the cache is emptied after each step, so that each step gets its memory from the driver"),
    CPU_PREEMPTED("other processes take the CPU from the thread that launches"),
    CHECKPOINT_STALL("training stops every so many steps to save a checkpoint"),
    GC_STALL("Python's garbage collector stops the program every so many steps"),
    REMOTE_DATA("the workers wait for a remote store, in a socket or asleep between tries, and need no CPU"),
    RECOMPILES("the model is compiled again every so many steps"),
    GIL("another thread holds Python's lock, on a job without a GPU"),
    LOCK("another thread holds a lock that the training thread needs, on a job without a GPU"),
    SLEEP_EACH_STEP("the training thread sleeps in each step, on a job without a GPU"),
    LOG_FSYNC("the training thread writes a log and syncs it in each step, on a job without a GPU"),
    WORK_BETWEEN_CALLS("the training thread runs Python of its own between its calls, on a job without a GPU"),
    EVALUATION("the model is evaluated every so many steps, on a job without a GPU"),
    CLOSURE("nothing: the optimizer calls the forward and the backward pass, on a job without a GPU"),
    MIXED("two causes, which the seed chooses");

    private final String meaning;
    private final int usualRanks;

    Scenario(String meaning) {
        this(meaning, 1);
    }

    Scenario(String meaning, int usualRanks) {
        this.meaning = meaning;
        this.usualRanks = usualRanks;
    }

    /// More than one where a single rank cannot show it.
    public int usualRanks() {
        return usualRanks;
    }

    /// Whether the job has GPUs; else it computes on its CPUs.
    boolean usesGpu() {
        return switch (this) {
            case GIL, LOCK, SLEEP_EACH_STEP, LOG_FSYNC, WORK_BETWEEN_CALLS, EVALUATION, CLOSURE -> false;
            default -> true;
        };
    }

    /// Whether some ranks of a job may have it and others not. The others are those of the job: all of its communication, or
    /// whether it has GPUs.
    boolean isOfOneRank() {
        return switch (this) {
            case DATA_BOUND_CPU, DATA_BOUND_STORAGE, REMOTE_DATA, STRAGGLER_RANK, HANG, CPU_PREEMPTED, GC_STALL, SYNC_BOUND,
                    PAGEABLE_COPIES, MEMORY_LEAK -> true;
            case HEALTHY, TOO_FEW_WORKERS, WORKER_STARTUP, LAUNCH_BOUND, COMM_BOUND, COMM_OVERLAPPED, SMALL_COLLECTIVES,
                    NEAR_OOM, FRAGMENTATION, ALLOCATOR_CHURN, CHECKPOINT_STALL, RECOMPILES, GIL, LOCK, SLEEP_EACH_STEP,
                    LOG_FSYNC, WORK_BETWEEN_CALLS, EVALUATION, CLOSURE, MIXED -> false;
        };
    }

    /// Whether it is of [JobParameters#straggler].
    boolean isOfStraggler() {
        return this == STRAGGLER_RANK || this == HANG;
    }

    /// Whether its measure is time: its strength is then the lost share of the step.
    boolean costsTime() {
        return switch (this) {
            case HEALTHY, HANG, MEMORY_LEAK, NEAR_OOM, FRAGMENTATION, CLOSURE -> false;
            case DATA_BOUND_CPU, DATA_BOUND_STORAGE, TOO_FEW_WORKERS, WORKER_STARTUP, LAUNCH_BOUND, SYNC_BOUND,
                    PAGEABLE_COPIES, STRAGGLER_RANK, COMM_BOUND, COMM_OVERLAPPED, SMALL_COLLECTIVES, ALLOCATOR_CHURN,
                    CPU_PREEMPTED, CHECKPOINT_STALL, GC_STALL, REMOTE_DATA, RECOMPILES, GIL, LOCK, SLEEP_EACH_STEP,
                    LOG_FSYNC, WORK_BETWEEN_CALLS, EVALUATION, MIXED -> true;
        };
    }

    /// The name on the command line: `data-bound-cpu`.
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String meaning() {
        return meaning;
    }

    public static Optional<Scenario> named(String label) {
        return Arrays.stream(values()).filter(s -> s.label().equals(label)).findFirst();
    }
}
