package io.dyber.zernel.serve.metric;

import static io.dyber.zernel.serve.metric.Metric.Amount.BYTES;
import static io.dyber.zernel.serve.metric.Metric.Amount.CALLS;
import static io.dyber.zernel.serve.metric.Metric.Amount.CALL_DURATION;
import static io.dyber.zernel.serve.metric.Metric.Amount.COUNT;
import static io.dyber.zernel.serve.metric.Metric.Amount.DURATION;
import static io.dyber.zernel.serve.metric.Metric.Amount.ONE;
import static io.dyber.zernel.serve.metric.Metric.Amount.VALUE;
import static io.dyber.zernel.serve.metric.Metric.counter;
import static io.dyber.zernel.serve.metric.Metric.gauge;
import static io.dyber.zernel.serve.metric.Metric.info;
import static io.dyber.zernel.serve.metric.Metric.summary;

import java.util.List;
import java.util.Map;

/// Every metric there is, one line each: the exposition, the snapshots, the page, alert rules, the Grafana dashboard and
/// docs/metrics.md know no other names.
///
/// The first six families carry zerneld's names and labels. All durations are measured on the CPU.
public final class Metrics {
    /// As `is_read` of the analyzer's `prelude.sql`.
    private static final String READS = "read,readv,pread*,page_fault,io_uring_read*";

    public static final Metric GPU_MEMORY_USED = gauge("zernel_gpu_memory_used_bytes",
            "GPU memory allocated and not freed, as the allocation calls say.", "pid", "gpu_id");
    public static final Metric GPU_MEMORY_PEAK = gauge("zernel_gpu_memory_peak_bytes",
            "Largest zernel_gpu_memory_used_bytes so far.", "pid", "gpu_id");
    public static final Metric CUDA_LAUNCH = summary("zernel_cuda_launch_latency_seconds",
            "Time a kernel launch call took on the CPU, of those whose end was recorded.", "pid")
            .from("cuda_launch", CALL_DURATION);
    public static final Metric NCCL = summary("zernel_nccl_collective_duration_seconds",
            "Time a NCCL collective call took on the CPU.", "op", "pid").from("nccl", DURATION);
    public static final Metric DATALOADER_WAIT = summary("zernel_dataloader_wait_seconds",
            "Time the training loop waited for its next batch.", "pid")
            .from("region", "enumerate(DataLoader)#*", DURATION);
    public static final Metric DIST_SYNC_WAIT = summary("zernel_dist_sync_wait_seconds",
            "Time blocked in futex, the call behind locks and barriers.", "pid").from("wait", "futex", DURATION);

    public static final Metric STEPS = counter("zernel_steps_total", "Training steps seen to end.", "pid");
    public static final Metric STEP = summary("zernel_step_seconds",
            "Time of a training step, from the end of the one before.", "pid");
    public static final Metric STEP_AGE = gauge("zernel_step_age_seconds",
            "Time since the last training step of a running process ended.", "pid");
    public static final Metric PHASE_SECONDS = counter("zernel_phase_seconds_total",
            "Time of training steps by phase; phases do not overlap and add up to the steps.", "pid", "phase");
    public static final Metric PHASE_RATIO = gauge("zernel_phase_ratio",
            "Share of each phase in the steps of the last minute.", "pid", "phase");
    public static final Metric BACKWARD = summary("zernel_backward_seconds",
            "Time a backward pass took on the CPU.", "pid").from("backward", DURATION);

    public static final Metric CUDA_LAUNCHES = counter("zernel_cuda_launches_total",
            "Kernel launches that were recorded or counted: those of zernel_detail_seconds_total, by whose rate theirs is "
                    + "to be divided.",
            "pid").from("cuda_launch", CALLS);
    public static final Metric CUDA_SYNC = summary("zernel_cuda_sync_seconds",
            "Time blocked in a CUDA synchronisation.", "pid").from("cuda_sync", DURATION);
    public static final Metric CUDA_COPIES = counter("zernel_cuda_copies_total",
            "CUDA copies and fills, by direction.", "pid", "copy_kind").from("cuda_copy", ONE);
    public static final Metric CUDA_COPY_BYTES = counter("zernel_cuda_copy_bytes_total",
            "Bytes given to CUDA copies, by direction.", "pid", "copy_kind").from("cuda_copy", BYTES);
    public static final Metric NCCL_BYTES = counter("zernel_nccl_bytes_total",
            "Bytes given to NCCL collectives.", "op", "pid").from("nccl", BYTES);
    public static final Metric NCCL_SKEW = summary("zernel_nccl_skew_seconds",
            "Time from the first to the last rank's call of the same collective, of the ranks in the recording.", "op");
    public static final Metric NCCL_LATE = summary("zernel_nccl_late_seconds",
            "How much later than the first rank a process called a collective.", "pid");
    public static final Metric TORCH_DIST_WAIT = summary("zernel_torch_dist_wait_seconds",
            "Time blocked on work of torch.distributed.", "pid").from("dist_wait", DURATION);
    public static final Metric TORCH_MEMORY_USED = gauge("zernel_torch_memory_used_bytes",
            "Bytes PyTorch's caching allocator has given to tensors; not known where that is recorded in windows of time.",
            "pid", "gpu_id");
    public static final Metric TORCH_MEMORY_PEAK = gauge("zernel_torch_memory_peak_bytes",
            "Largest zernel_torch_memory_used_bytes so far.", "pid", "gpu_id");
    public static final Metric TORCH_MEMORY_RESERVED = gauge("zernel_torch_memory_reserved_bytes",
            "GPU memory of a process that uses PyTorch's caching allocator: what tensors use, and what it keeps.",
            "pid", "gpu_id");

    public static final Metric GPU_UTILIZATION = gauge("zernel_gpu_utilization_ratio",
            "Share of the last sample period in which a kernel ran.", "gpu_id").sampled("utilization", 1e-2);
    public static final Metric GPU_MEMORY_UTILIZATION = gauge("zernel_gpu_memory_utilization_ratio",
            "Share of the last sample period in which GPU memory was read or written.", "gpu_id")
            .sampled("memory_utilization", 1e-2);
    public static final Metric GPU_SM_ACTIVE = gauge("zernel_gpu_sm_active_ratio",
            "Share of the SMs' time in which an SM had work; mean, by hardware counters (Hopper and newer).", "gpu_id").sampled("sm_active", 1e-6);
    public static final Metric GPU_SM_OCCUPANCY = gauge("zernel_gpu_sm_occupancy_ratio",
            "Warps on SMs, of the most that fit.", "gpu_id").sampled("sm_occupancy", 1e-6);
    public static final Metric GPU_TENSOR_ACTIVE = gauge("zernel_gpu_tensor_active_ratio",
            "Share of time in which tensor cores were busy.", "gpu_id").sampled("tensor_active", 1e-6);
    public static final Metric GPU_PIPE_ACTIVE = gauge("zernel_gpu_pipe_active_ratio",
            "Share of time in which other pipes of the SMs were busy.", "gpu_id", "pipe")
            .sampled("fp64_active,fp32_active,fp16_active,int_active", 1e-6);
    public static final Metric GPU_DRAM_ACTIVE = gauge("zernel_gpu_dram_active_ratio",
            "Share of time in which the device's memory was busy.", "gpu_id").sampled("dram_active", 1e-6);
    public static final Metric GPU_MEMORY_CAPACITY = gauge("zernel_gpu_memory_capacity_bytes",
            "Memory a device has.", "gpu_id").sampled("memory_total", 1);
    public static final Metric GPU_DEVICE_MEMORY = gauge("zernel_gpu_device_memory_used_bytes",
            "Memory of a device in use by any process.", "gpu_id").sampled("memory_used", 1);
    public static final Metric GPU_MEMORY_RATIO = gauge("zernel_gpu_memory_used_ratio",
            "Share of a device's memory in use by any process.", "gpu_id");
    public static final Metric GPU_POWER = gauge("zernel_gpu_power_watts",
            "Power a device draws.", "gpu_id").sampled("power", 1e-3);
    public static final Metric GPU_POWER_LIMIT = gauge("zernel_gpu_power_limit_watts",
            "Power a device may draw.", "gpu_id").sampled("power_limit", 1e-3);
    public static final Metric GPU_ENERGY = counter("zernel_gpu_energy_joules_total",
            "Energy a device has used since the driver was loaded.", "gpu_id").sampled("energy", 1e-3);
    public static final Metric GPU_TEMPERATURE = gauge("zernel_gpu_temperature_celsius",
            "Temperature of a device.", "gpu_id").sampled("temperature", 1);
    public static final Metric GPU_FAN = gauge("zernel_gpu_fan_ratio",
            "Speed of a device's fan, of its highest.", "gpu_id").sampled("fan", 1e-2);
    public static final Metric GPU_ENCODER = gauge("zernel_gpu_encoder_utilization_ratio",
            "Share of time in which the video encoder was busy.", "gpu_id").sampled("encoder", 1e-2);
    public static final Metric GPU_DECODER = gauge("zernel_gpu_decoder_utilization_ratio",
            "Share of time in which the video decoder was busy.", "gpu_id").sampled("decoder", 1e-2);
    public static final Metric GPU_SM_CLOCK = gauge("zernel_gpu_sm_clock_hertz",
            "Clock of the multiprocessors.", "gpu_id").sampled("clock_sm", 1e6);
    public static final Metric GPU_MEMORY_CLOCK = gauge("zernel_gpu_memory_clock_hertz",
            "Clock of the memory.", "gpu_id").sampled("clock_mem", 1e6);
    public static final Metric GPU_PCIE_SENT = gauge("zernel_gpu_pcie_sent_bytes_per_second",
            "What a device sends over PCIe.", "gpu_id").sampled("pcie_tx", 1);
    public static final Metric GPU_PCIE_RECEIVED = gauge("zernel_gpu_pcie_received_bytes_per_second",
            "What a device receives over PCIe.", "gpu_id").sampled("pcie_rx", 1);
    public static final Metric GPU_NVLINK_SENT = gauge("zernel_gpu_nvlink_sent_bytes_per_second",
            "What a device sends over NVLink.", "gpu_id").sampled("nvlink_tx", 1);
    public static final Metric GPU_NVLINK_RECEIVED = gauge("zernel_gpu_nvlink_received_bytes_per_second",
            "What a device receives over NVLink.", "gpu_id").sampled("nvlink_rx", 1);
    public static final Metric GPU_ECC_ERRORS = counter("zernel_gpu_ecc_errors_total",
            "Memory errors that could not be corrected, since the driver was loaded.", "gpu_id")
            .sampled("ecc_errors", 1);
    public static final Metric GPU_ECC_CORRECTED = counter("zernel_gpu_ecc_corrected_total",
            "Memory errors that were corrected, since the driver was loaded.", "gpu_id").sampled("ecc_corrected", 1);
    public static final Metric GPU_XID = counter("zernel_gpu_xid_errors_total",
            "Critical errors (XID) that the driver reported.", "gpu_id").from("gpu_sample", "xid", ONE);
    public static final Metric GPU_THROTTLE = gauge("zernel_gpu_throttle_reasons",
            "Bits that say why clocks are low: 1 idle, 4 power cap, 8 hardware, 32 and 64 heat, 128 power brake.",
            "gpu_id").sampled("throttle", 1);
    public static final Metric GPU_PROCESS_UTILIZATION = gauge("zernel_gpu_process_utilization_ratio",
            "Share of the last sample period in which kernels of a process ran.", "pid", "gpu_id")
            .from("gpu_process", "sm", VALUE, 1e-2);
    public static final Metric GPU_PROCESS_MEMORY = gauge("zernel_gpu_process_memory_used_bytes",
            "Memory of a device that a process uses, as the driver says.", "pid", "gpu_id")
            .from("gpu_process", "memory_used", VALUE);

    public static final Metric IO = summary("zernel_io_seconds",
            "Time a read took.", "pid").from("io", READS, DURATION);
    public static final Metric IO_BYTES = counter("zernel_io_bytes_total",
            "Bytes read by system calls.", "pid").from("io", READS, BYTES);
    public static final Metric WAIT = summary("zernel_wait_seconds",
            "Time blocked in a waiting system call, by call.", "pid", "name").from("wait", DURATION);
    public static final Metric CALL = summary("zernel_call_seconds",
            "Time a function named with --probe took.", "pid", "name").from("call", DURATION);

    public static final Metric PROCESS_INFO = info("zernel_process_info",
            "What is known of a process that has series of its own: its rank in the job, and where it runs.",
            "pid", "comm", "rank", "local_rank", "world_size", "cgroup", "container", "pod");
    public static final Metric GPU_INFO = info("zernel_gpu_info",
            "What is known of a device, counted as NVML does.", "gpu_id", "uuid", "name", "pci");
    public static final Metric HOST_INFO = info("zernel_host_info",
            "The machine that was recorded.", "host", "kernel", "arch", "driver");
    public static final Metric BUILD_INFO = info("zernel_build_info",
            "Versions of the server, and of the recorder that wrote the recording.", "version", "recorder");

    public static final Metric FINDING_INFO = info("zernel_finding_info",
            "What the analyzer finds in all of the recording, the worst 20; of one that grows, when it looked last.",
            "finding", "subject", "severity", "title");
    public static final Metric FINDING_LOST = gauge("zernel_finding_lost_seconds",
            "Estimate by how much a training step would be shorter without what was found; of findings about time.",
            "finding", "subject");

    public static final Metric EVENTS = counter("zernel_events_total",
            "Events read from the recording.", "kind").from("*", ONE);
    public static final Metric DETAIL_SECONDS = counter("zernel_detail_seconds_total",
            "Event time in which launches and the like were recorded: all of it, or windows.");
    public static final Metric LOST = counter("zernel_lost_events_total",
            "Events the recorder could not store, by kind.", "name").from("lost", COUNT);
    public static final Metric ALERTS = gauge("zernel_alerts",
            "Series that meet the condition of an alert rule, by state.", "alertname", "alertstate", "severity");
    public static final Metric ALERT_NOTIFICATIONS = counter("zernel_alert_notifications_total",
            "Alerts that a webhook was told of, by how that went.", "result");
    public static final Metric OTLP_FAILURES = counter("zernel_otlp_failures_total",
            "Pushes to --otlp that did not arrive, and log records that were dropped: too many waited, or they were refused.",
            "signal", "result");
    public static final Metric OVERHEAD = gauge("zernel_recorder_overhead_ratio",
            "CPU time that recording cost the recorded threads, of one CPU; known of finished recordings.");
    public static final Metric SOURCE_TIME = gauge("zernel_source_time_seconds",
            "Event time reached, since the epoch.");
    public static final Metric SOURCE_ENDED = gauge("zernel_source_ended",
            "1 once the recording has ended or was replayed to its end.");
    public static final Metric PIDS_FOLDED = gauge("zernel_folded_pids",
            "Processes that share the series pid=\"other\" because too many were seen.");

    /// All of them by subject, in the order of the exposition.
    public static final List<Group> GROUPS = List.of(
            new Group("zerneld's families", List.of(GPU_MEMORY_USED, GPU_MEMORY_PEAK, CUDA_LAUNCH, NCCL,
                    DATALOADER_WAIT, DIST_SYNC_WAIT)),
            new Group("Training steps", List.of(STEPS, STEP, STEP_AGE, PHASE_SECONDS, PHASE_RATIO, BACKWARD)),
            new Group("CUDA, NCCL and PyTorch", List.of(CUDA_LAUNCHES, CUDA_SYNC, CUDA_COPIES, CUDA_COPY_BYTES,
                    NCCL_BYTES, NCCL_SKEW, NCCL_LATE, TORCH_DIST_WAIT, TORCH_MEMORY_USED, TORCH_MEMORY_PEAK,
                    TORCH_MEMORY_RESERVED)),
            new Group("Devices, as the NVIDIA driver says", List.of(GPU_UTILIZATION, GPU_MEMORY_UTILIZATION,
                    GPU_SM_ACTIVE, GPU_SM_OCCUPANCY, GPU_TENSOR_ACTIVE, GPU_PIPE_ACTIVE, GPU_DRAM_ACTIVE,
                    GPU_MEMORY_CAPACITY, GPU_DEVICE_MEMORY, GPU_MEMORY_RATIO, GPU_POWER, GPU_POWER_LIMIT, GPU_ENERGY,
                    GPU_TEMPERATURE, GPU_FAN, GPU_ENCODER, GPU_DECODER, GPU_SM_CLOCK, GPU_MEMORY_CLOCK, GPU_PCIE_SENT,
                    GPU_PCIE_RECEIVED, GPU_NVLINK_SENT, GPU_NVLINK_RECEIVED, GPU_ECC_ERRORS, GPU_ECC_CORRECTED, GPU_XID, GPU_THROTTLE,
                    GPU_PROCESS_UTILIZATION, GPU_PROCESS_MEMORY)),
            new Group("Reads, waits and calls", List.of(IO, IO_BYTES, WAIT, CALL)),
            new Group("Who is who", List.of(PROCESS_INFO, GPU_INFO, HOST_INFO, BUILD_INFO)),
            new Group("Findings", List.of(FINDING_INFO, FINDING_LOST)),
            new Group("Recorder and server", List.of(EVENTS, DETAIL_SECONDS, LOST, OVERHEAD, SOURCE_TIME, SOURCE_ENDED, PIDS_FOLDED,
                    ALERTS, ALERT_NOTIFICATIONS, OTLP_FAILURES)));

    /// All of them, in the order of the exposition.
    public static final List<Metric> ALL =
            GROUPS.stream().flatMap(group -> group.metrics().stream()).toList();

    /// The quantiles that a summary shows.
    public static final List<String> QUANTILES = List.of("0.5", "0.99");

    /// What the labels mean.
    public static final Map<String, String> LABELS = Map.ofEntries(
            Map.entry("pid", "process, in the initial pid namespace; DataLoader workers count for the one that started them; `other` for "
                    + "those without series of their own"),
            Map.entry("gpu_id", "device: as the process counts them in what its calls say, as NVML does in samples; "
                    + "`1/3` is the MIG instance 3 of device 1"),
            Map.entry("pipe", "`fp64`, `fp32`, `fp16` (without tensor cores) or `int`"),
            Map.entry("op", "collective: `all_reduce`, `all_gather`, ..."),
            Map.entry("phase", "`data_loading`, `gpu_compute`, `nccl_collective`, `optimizer_step` or `unknown`: "
                    + "those of `zernel-analyze phases`; without a GPU, `gpu_compute` is compute on the CPU and "
                    + "`nccl_collective` any communication"),
            Map.entry("copy_kind", "direction: `HtoD`, `DtoH`, `DtoD`, ..."),
            Map.entry("name", "system call, function, the kind that lost events, or the model of a device"),
            Map.entry(Metric.RANK, "rank of the process in its job, by `RANK`, `SLURM_PROCID` or `OMPI_COMM_WORLD_RANK` of the "
                    + "environment it was started with; not there where it has none"),
            Map.entry("local_rank", "its rank on the machine, by `LOCAL_RANK`"),
            Map.entry("world_size", "ranks of the job, by `WORLD_SIZE`"),
            Map.entry("comm", "last name of the process's main thread"),
            Map.entry("cgroup", "path of the process's cgroup, as the recorder sees it"),
            Map.entry("container", "id of the container, where the cgroup's path has one"),
            Map.entry("pod", "UID of the Kubernetes pod, where the cgroup's path has one"),
            Map.entry("uuid", "of the device, as `nvidia-smi -L` says it"),
            Map.entry("pci", "where the device is on the PCI bus: `00000000:3B:00.0`"),
            Map.entry("host", "name of the machine"),
            Map.entry("kernel", "version of Linux"),
            Map.entry("arch", "of the CPUs: `x86_64`, `aarch64`"),
            Map.entry("driver", "version of the NVIDIA driver; not there where GPUs were not sampled"),
            Map.entry("finding", "name of the finding, as in `zernel-analyze findings`"),
            Map.entry("subject", "what it is about: a rank, a thread, a device, a file"),
            Map.entry("title", "what it says, in a few words"),
            Map.entry("version", "of Zernel"),
            Map.entry("recorder", "version of Zernel's recorder"),
            Map.entry("alertname", "name of the rule"),
            Map.entry("alertstate", "`pending` or `firing`"),
            Map.entry("severity", "of an alert `info`, `warning` or `critical`; of a finding `low`, `medium` or `high`"),
            Map.entry("signal", "`metrics` or `logs`"),
            Map.entry("result", "`sent`, `failed` or `dropped`: the queue was full, or, of log records, they were refused"),
            Map.entry("state", "of machines: `sending`; or `silent`, a minute after the newest digest of all without one of its own"),
            Map.entry("rank_group", "`all`, the mean of all ranks, or `longest`, the rank with the longest"),
            Map.entry("which", "`newest` or `oldest`"),
            Map.entry("fate", "of a digest: `read`; or left out: `damaged`, `foreign`, `newer` (of a later version), `duplicate`, "
                    + "`late` (a newer one of the machine was there), `too_large`, `dropped` (too many machines or files); "
                    + "of pushes `refused`"),
            Map.entry("outcome", "`done` or `failed`"),
            Map.entry("kind", "kind of event, as in the recording"));

    /// Metrics of one subject.
    public record Group(String title, List<Metric> metrics) {}

    private Metrics() {}
}
