package io.dyber.zernel.record.builtin;

import io.dyber.zernel.record.probe.CollectorProbe;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Every kind the recorder knows, in the order of the schema. The order of the kernel's is also that in which their objects
/// are loaded.
public final class Probes {
    private static final List<Probe> IN_KERNEL = List.of(
            Probe.inKernel(
                    "process",
                    "start, exec, exit and names of processes and threads",
                    "exec", "fork", "thread", "exit", "rename"),
            Probe.inKernel(
                    "io",
                    "reads, writes, fsync and renames of files: bytes and time blocked",
                    KernelPart.adding(
                            "sched", "io_ns and page faults", "sees_io_wait", KernelPart.Named.all("page_fault")),
                    KernelPart.adding("pages", "miss_bytes", "sees_page_cache", List.of()),
                    KernelPart.adding("faults", "page faults", "sees_page_faults", List.of()),
                    KernelPart.adding("uring", "reads through io_uring", "", SystemCalls.ringReads()),
                    KernelPart.whole("syscalls", SystemCalls.of("io"))),
            Probe.inKernel(
                    "io_open",
                    "opening files, also without success",
                    KernelPart.whole("syscalls", SystemCalls.of("io_open"))),
            Probe.inKernel(
                    "wait",
                    "blocking for 50 us or longer: locks, sleeps, sockets, poll, child processes",
                    KernelPart.whole("syscalls", SystemCalls.of("wait"))),
            Probe.inKernel(
                    "sched", "threads off their CPUs for 50 us or longer, and how long they waited for one", "off-cpu"),
            Probe.inKernel("sample", "what runs on each CPU, 49 times a second, with its stack", "on-cpu"));

    private static final Probe CALL = Probe.ofFunctions(
            "call", "functions-session", "", List.of(), "calls of the functions you name with --probe");

    private static final Probe GPU_SAMPLE = new Probe(
            "gpu_sample",
            "nvml",
            new Origin.Driver(),
            "load, memory, power, temperature and clocks of each GPU, from the driver");

    private static final Probe GPU_PROCESS = new Probe(
            "gpu_process", "nvml", new Origin.Driver(), "load and memory of each process on each GPU, from the driver");

    private static final List<Probe> GPU_ACTIVITY = List.of(
            injected("gpu_kernel", "each kernel that ran on a GPU, with --gpu-activity"),
            injected("gpu_memcpy", "each copy that a GPU made, with --gpu-activity"),
            injected("gpu_memset", "each fill that a GPU made, with --gpu-activity"));

    private static Probe injected(String kind, String summary) {
        return new Probe(kind, "activity", new Origin.Injected(), summary);
    }

    private static final Probe HOST_SAMPLE = new Probe(
            "host_sample", "host", new Origin.Host(), "CPUs, memory, limits and links of the host, and of each recorded process");

    private static final Probe MARK = new Probe(
            "mark", "recorder", new Origin.Recorder(), "moments that you name with 'zernel-record mark'");

    private static final Probe LOST =
            new Probe("lost", "recorder", new Origin.Recorder(), "how many events of which kind were lost, and when");

    private static final Probe GC = Probe.ofFunctions(
            CollectorProbe.KIND,
            "torch",
            CollectorProbe.INTERPRETER,
            CollectorProbe.hooks(),
            "runs of Python's garbage collector over all objects, of 100 us or longer");

    private static final List<Probe> ALL = Stream.of(
                    TorchProbes.all(),
                    CudaProbes.all(),
                    NcclProbes.all(),
                    IN_KERNEL,
                    List.of(CALL, GPU_SAMPLE, GPU_PROCESS, HOST_SAMPLE, MARK, LOST, GC),
                    GPU_ACTIVITY)
            .flatMap(List::stream)
            .toList();

    private Probes() {}

    public static List<Probe> all() {
        return ALL;
    }

    public static Optional<Probe> ofKind(String kind) {
        return all().stream().filter(probe -> probe.kind().equals(kind)).findFirst();
    }
}
