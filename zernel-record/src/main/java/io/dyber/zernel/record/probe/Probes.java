package io.dyber.zernel.record.probe;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Every kind the recorder knows, in the order of the schema.
public final class Probes {
    private static final Probe PROCESS = new Probe(
            "process", "process", "", List.of(), "start, exec, exit and names of processes and threads");

    private static final Probe IO =
            new Probe("io", "syscalls", "", List.of(), "reads, writes, fsync and renames of files: bytes and time blocked");

    private static final Probe IO_OPEN =
            new Probe("io_open", "syscalls", "", List.of(), "opening files, also without success");

    private static final Probe WAIT = new Probe(
            "wait", "syscalls", "", List.of(), "blocking for 50 us or longer: locks, sleeps, sockets, poll, child processes");

    private static final Probe SCHED = new Probe(
            "sched", "sched", "", List.of(), "threads off their CPUs for 50 us or longer, and how long they waited for one");

    private static final Probe CALL =
            new Probe("call", "", "", List.of(), "calls of the functions you name with --probe");

    private static final Probe GPU_SAMPLE = new Probe(
            "gpu_sample", "nvml", "", List.of(), "load, memory, power, temperature and clocks of each GPU, from the driver");

    private static final Probe GPU_PROCESS =
            new Probe("gpu_process", "nvml", "", List.of(), "load and memory of each process on each GPU, from the driver");

    private static final Probe HOST_SAMPLE = new Probe(
            "host_sample", "host", "", List.of(), "CPUs, memory, limits and links of the host, and of each recorded process");

    private static final Probe MARK = new Probe(
            "mark", "recorder", "", List.of(), "moments that you name with 'zernel-record mark'");

    private static final Probe LOST =
            new Probe("lost", "recorder", "", List.of(), "how many events of which kind were lost, and when");

    private static final Probe GC = new Probe(
            CollectorProbe.KIND,
            "",
            CollectorProbe.INTERPRETER,
            CollectorProbe.hooks(),
            "runs of Python's garbage collector over all objects, of 100 us or longer");

    private static final List<Probe> ALL = Stream.of(
                    TorchProbes.all(),
                    CudaProbes.all(),
                    NcclProbes.all(),
                    List.of(
                            PROCESS, IO, IO_OPEN, WAIT, SCHED, CALL, GPU_SAMPLE, GPU_PROCESS, HOST_SAMPLE, MARK, LOST,
                            GC))
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
