package io.dyber.zernel.serve;

import static io.dyber.zernel.serve.Metric.Amount.BYTES;
import static io.dyber.zernel.serve.Metric.Amount.COUNT;
import static io.dyber.zernel.serve.Metric.Amount.DURATION;
import static io.dyber.zernel.serve.Metric.Amount.ONE;
import static io.dyber.zernel.serve.Metric.Amount.VALUE;
import static io.dyber.zernel.serve.Metric.counter;
import static io.dyber.zernel.serve.Metric.gauge;
import static io.dyber.zernel.serve.Metric.summary;

import java.util.List;

/// Every metric there is, one line each: the exposition, the snapshots and the page know no other names.
///
/// The first six families carry zerneld's names and labels. All durations are measured on the CPU.
public final class Metrics {
    public static final Metric GPU_MEMORY_USED = gauge("zernel_gpu_memory_used_bytes",
            "GPU memory allocated and not freed, as the allocation calls say.", "pid", "gpu_id");
    public static final Metric GPU_MEMORY_PEAK = gauge("zernel_gpu_memory_peak_bytes",
            "Largest zernel_gpu_memory_used_bytes so far.", "pid", "gpu_id");
    public static final Metric CUDA_LAUNCH = summary("zernel_cuda_launch_latency_seconds",
            "Time a kernel launch call took on the CPU.", "pid").from("cuda_launch", DURATION);
    public static final Metric NCCL = summary("zernel_nccl_collective_duration_seconds",
            "Time a NCCL collective call took on the CPU.", "op", "pid").from("nccl", DURATION);
    public static final Metric DATALOADER_WAIT = summary("zernel_dataloader_wait_seconds",
            "Time the training loop waited for its next batch.", "pid")
            .from("region", Part::isDataWait, DURATION);
    public static final Metric DIST_SYNC_WAIT = summary("zernel_dist_sync_wait_seconds",
            "Time blocked in futex, the call behind locks and barriers.", "pid")
            .from("wait", "futex"::equals, DURATION);

    public static final Metric STEPS = counter("zernel_steps_total", "Training steps seen to end.", "pid");
    public static final Metric STEP = summary("zernel_step_seconds",
            "Time of a training step, from the end of the one before.", "pid");
    public static final Metric PHASE_SECONDS = counter("zernel_phase_seconds_total",
            "Time of training steps by phase; phases do not overlap and add up to the steps.", "pid", "phase");
    public static final Metric PHASE_RATIO = gauge("zernel_phase_ratio",
            "Share of each phase in the steps of the last minute.", "pid", "phase");
    public static final Metric BACKWARD = summary("zernel_backward_seconds",
            "Time a backward pass took on the CPU.", "pid").from("backward", DURATION);
    public static final Metric IO = summary("zernel_io_seconds",
            "Time a read system call took.", "pid").from("io", DURATION);
    public static final Metric IO_BYTES = counter("zernel_io_bytes_total",
            "Bytes read by system calls.", "pid").from("io", BYTES);
    public static final Metric WAIT = summary("zernel_wait_seconds",
            "Time blocked in a waiting system call, by call.", "pid", "name").from("wait", DURATION);
    public static final Metric CALL = summary("zernel_call_seconds",
            "Time a function named with --probe took.", "pid", "name").from("call", DURATION);
    public static final Metric CUDA_SYNC = summary("zernel_cuda_sync_seconds",
            "Time blocked in a CUDA synchronisation.", "pid").from("cuda_sync", DURATION);
    public static final Metric CUDA_COPY_BYTES = counter("zernel_cuda_copy_bytes_total",
            "Bytes given to CUDA copies, by direction.", "pid", "copy_kind").from("cuda_copy", BYTES);
    public static final Metric NCCL_BYTES = counter("zernel_nccl_bytes_total",
            "Bytes given to NCCL collectives.", "op", "pid").from("nccl", BYTES);
    public static final Metric TORCH_MEMORY_USED = gauge("zernel_torch_memory_used_bytes",
            "Bytes PyTorch's caching allocator has given to tensors.", "pid", "gpu_id");
    public static final Metric TORCH_MEMORY_PEAK = gauge("zernel_torch_memory_peak_bytes",
            "Largest zernel_torch_memory_used_bytes so far.", "pid", "gpu_id");
    public static final Metric GPU_SAMPLE = gauge("zernel_gpu_sample",
            "Latest NVML sample of a device, in the unit its label says.", "gpu_id", "name", "unit")
            .from("gpu_sample", VALUE);

    public static final Metric EVENTS = counter("zernel_events_total",
            "Events read from the recording.", "kind").from("*", ONE);
    public static final Metric LOST = counter("zernel_lost_events_total",
            "Events the recorder could not store, by kind.", "name").from("lost", COUNT);
    public static final Metric SOURCE_TIME = gauge("zernel_source_time_seconds",
            "Event time reached, since the epoch.");
    public static final Metric SOURCE_ENDED = gauge("zernel_source_ended",
            "1 once the recording has ended or was replayed to its end.");
    public static final Metric PIDS_FOLDED = gauge("zernel_folded_pids",
            "Processes that share the series pid=\"other\" because too many were seen.");

    /// All of them, in the order of the exposition.
    public static final List<Metric> ALL = List.of(GPU_MEMORY_USED, GPU_MEMORY_PEAK, CUDA_LAUNCH, NCCL,
            DATALOADER_WAIT, DIST_SYNC_WAIT, STEPS, STEP, PHASE_SECONDS, PHASE_RATIO, BACKWARD, IO, IO_BYTES, WAIT,
            CALL, CUDA_SYNC, CUDA_COPY_BYTES, NCCL_BYTES, TORCH_MEMORY_USED, TORCH_MEMORY_PEAK, GPU_SAMPLE, EVENTS,
            LOST, SOURCE_TIME, SOURCE_ENDED, PIDS_FOLDED);

    private Metrics() {}
}
