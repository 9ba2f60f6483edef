package io.dyber.zernel.record;

import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.attach.RingSizes;
import io.dyber.zernel.record.host.MemoryLimit;
import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.UprobeProbes;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.nvml.GpuFacts;
import io.dyber.zernel.record.nvml.GpuSampler;
import io.dyber.zernel.record.nvml.NvmlException;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.process.Machine;
import io.dyber.zernel.record.rows.GpuRows;
import io.dyber.zernel.record.session.PidNamespace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// What this machine can record, found out by trying, and what to do about the rest.
public final class MachineCheck {
    /// One thing looked at.
    ///
    /// @param ok whether recording can use it
    /// @param needed whether recording is impossible without it
    /// @param fix what to do when it is not ok, or empty
    public record Check(String subject, boolean ok, boolean needed, String finding, String fix) {}

    private final List<Check> checks = new ArrayList<>();

    private MachineCheck() {}

    /// Tries everything that a recording tries, short of attaching.
    public static List<Check> run() {
        MachineCheck diagnosis = new MachineCheck();
        diagnosis.lookAtKernel();
        diagnosis.lookAtProcesses();
        diagnosis.tryToLoad();
        diagnosis.lookAtGpus();
        diagnosis.lookAtTools();
        return List.copyOf(diagnosis.checks);
    }

    private void lookAtKernel() {
        boolean btf = Files.isReadable(BpfPrograms.KERNEL_TYPES);
        add(
                "kernel",
                btf,
                true,
                Machine.kernel() + (btf ? " with type information (BTF)" : " without BTF"),
                BpfPrograms.NEEDS_BTF);
    }

    private void lookAtProcesses() {
        Optional<String> problem = PidNamespace.problem();
        add(
                "processes",
                problem.isEmpty(),
                true,
                problem.orElse("have the same numbers here as in the kernel"),
                PidNamespace.FIX);
    }

    private void tryToLoad() {
        try (BpfPrograms kernel =
                new BpfPrograms(
                        RecordOptions.to(Path.of("run.parquet")),
                        CompiledPrograms.schema(List.of()),
                        RingSizes.within(MemoryLimit.ofThisProcess()))) {
            add("probes", true, true, "this user may load and attach eBPF programs", "");
            addBackend(kernel);
            addReturns();
            for (Probe probe : Probes.all()) {
                if (GpuRows.KINDS.contains(probe.kind())) {
                    continue;
                }
                String refused = kernel.unavailable().get(probe.kind());
                add(probe.kind(), refused == null, false, refused == null ? probe.summary() : refused, "");
            }
        } catch (BpfException e) {
            add("probes", false, true, e.getMessage(), e.hint().orElse(""));
        } catch (RecorderException e) {
            add("probes", false, true, e.getMessage(), e.hint().orElse(""));
        }
    }

    private void addReturns() {
        if (Machine.endsFilteredAtReturns()) {
            add(
                    "returns",
                    false,
                    false,
                    "return probes could end processes in containers, so functions are probed where they are left, which costs"
                            + " more; those of which that is not known are left out",
                    "Linux 6.12.14, 6.13.3 and 6.14 let returns pass seccomp filters");
        }
    }

    private void addBackend(BpfPrograms kernel) {
        Backend backend = kernel.functions().map(UprobeProbes::backend).orElse(Backend.PERF);
        String finding = "functions are probed with the " + backend.title() + " backend";
        switch (backend) {
            case SESSION, SESSION_CTX, MULTI -> add("backend", true, false, finding, "");
            case PERF -> add(
                    "backend",
                    false,
                    false,
                    finding + ", which is slow to detach",
                    "Linux 6.6 or newer probes whole libraries at once");
        }
    }

    private void lookAtGpus() {
        try {
            GpuSampler.State found = GpuSampler.look();
            add("gpus", true, false, text(found.gpus()) + ", driver " + found.driver(), "");
            lookAtCounters(found.gpus());
        } catch (NvmlException e) {
            add("gpus", false, false, e.getMessage() + "; gpu_sample and gpu_process stay empty", "");
        }
    }

    private void lookAtCounters(List<GpuFacts> gpus) {
        List<GpuFacts> without = new ArrayList<>();
        Set<String> why = new LinkedHashSet<>();
        for (GpuFacts gpu : gpus) {
            for (GpuFacts.Gap gap : gpu.gaps()) {
                if (gap.name().equals(GpuFacts.COUNTERS)) {
                    without.add(gpu);
                    why.add(gap.why());
                }
            }
        }
        add(
                "gpm",
                without.isEmpty(),
                false,
                without.isEmpty()
                        ? "hardware counters of SMs, tensor cores, memory and links are read"
                        : "no hardware counters of " + text(without) + ": " + String.join(", ", why)
                                + "; Hopper and newer have them",
                "");
    }

    private static String text(List<GpuFacts> gpus) {
        if (gpus.size() == 1) {
            return "1 GPU: " + gpus.getFirst().name();
        }
        Map<String, Long> models = gpus.stream()
                .collect(Collectors.groupingBy(GpuFacts::name, LinkedHashMap::new, Collectors.counting()));
        return models.entrySet().stream()
                .map(model -> model.getValue() + " x " + model.getKey())
                .collect(Collectors.joining(", ", gpus.size() + " GPUs: ", ""));
    }

    private void lookAtTools() {
        boolean setpriv = List.of("/usr/bin/setpriv", "/bin/setpriv").stream()
                .anyMatch(path -> Files.isExecutable(Path.of(path)));
        add(
                "setpriv",
                setpriv,
                false,
                setpriv ? "commands run as the user who called sudo" : "not installed",
                "install util-linux, or record running processes with -p");
    }

    private void add(String subject, boolean ok, boolean needed, String finding, String fix) {
        checks.add(new Check(subject, ok, needed, finding, ok ? "" : fix));
    }
}
