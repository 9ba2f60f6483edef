package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.event.CallShape.Role;
import java.util.List;
import java.util.Optional;

/// Every kind the recorder knows, in the order of the schema.
public final class Probes {
    private static final String TORCH = "libtorch_cpu.so";
    private static final String PROFILER = "torch::autograd::profiler::";

    private static final Probe REGION = new Probe(
            "region",
            "",
            TORCH,
            List.of(
                    new Hook(regionEnter(PROFILER + "record_function_enter_new"), Role.OPEN, true),
                    new Hook(regionExit(PROFILER + "record_function_exit_new"), Role.CLOSE, true)),
            "PyTorch record_function regions: DataLoader, Optimizer.step, DDP, FSDP and the user's own");

    private static final Probe BACKWARD = new Probe(
            "backward",
            "",
            TORCH,
            List.of(new Hook(
                    new Function(
                            "backward", "Engine::execute", TORCH, "torch::autograd::Engine::execute", List.of()),
                    Role.CALL,
                    true)),
            "backward passes of PyTorch's autograd engine");

    private static final Probe PROCESS = new Probe(
            "process", "process", "", List.of(), "start, exec, exit and names of processes and threads");

    private static final Probe IO =
            new Probe("io", "syscalls", "", List.of(), "reads of files, pipes and sockets: bytes and time blocked");

    private static final Probe WAIT = new Probe(
            "wait", "syscalls", "", List.of(), "blocking in futex, poll, select and epoll for 50 us or longer");

    private static final Probe CALL =
            new Probe("call", "", "", List.of(), "calls of the functions you name with --probe");

    private static final Probe GPU_SAMPLE = new Probe(
            "gpu_sample", "nvml", "", List.of(), "load, memory, power, temperature and clocks of each GPU, from the driver");

    private static final Probe GPU_PROCESS =
            new Probe("gpu_process", "nvml", "", List.of(), "load and memory of each process on each GPU, from the driver");

    private static final Probe MARK = new Probe(
            "mark", "recorder", "", List.of(), "moments that you name with 'zernel-record mark'");

    private static final Probe LOST =
            new Probe("lost", "recorder", "", List.of(), "how many events of which kind were lost, and when");

    private Probes() {}

    public static List<Probe> all() {
        return List.of(REGION, BACKWARD, PROCESS, IO, WAIT, CALL, GPU_SAMPLE, GPU_PROCESS, MARK, LOST);
    }

    public static Optional<Probe> ofKind(String kind) {
        return all().stream().filter(probe -> probe.kind().equals(kind)).findFirst();
    }

    /// `record_function_enter_new(std::string const &name, ...)` returns an intrusive pointer in memory, so its first
    /// visible argument is the second. The object it points to is the region's handle.
    private static Function regionEnter(String symbol) {
        return new Function(
                "region",
                "",
                TORCH,
                symbol,
                List.of(
                        Capture.argument("name", 2, Width.STDSTR),
                        new Capture("", Source.RETURN, 0, List.of(0), Width.U64, true)));
    }

    private static Function regionExit(String symbol) {
        return new Function(
                "region",
                "",
                TORCH,
                symbol,
                List.of(new Capture("", Source.ARGUMENT, 1, List.of(0), Width.U64, false)));
    }
}
