package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.option.Detail;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.StackOptions;
import io.dyber.zernel.record.probe.ProbeFile;
import io.dyber.zernel.record.probe.ProbeSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine;

/// Which events are recorded, and how many of them.
final class EventOptions {
    @Option(
            names = "--probe",
            paramLabel = "SPEC",
            description = {
                "also (repeatable) 'LIBRARY:SYMBOL(role=step)',",
                "'torch_op:aten::*', 'py_call:Train.*', py_region"
            })
    private List<String> probes = new ArrayList<>();

    @Option(names = "--probe-file", paramLabel = "FILE", description = "probes from a JSON or YAML file; repeatable")
    private List<Path> probeFiles = new ArrayList<>();

    @Option(
            names = "--kinds",
            paramLabel = "KIND,...",
            hideParamSyntax = true,
            split = ",",
            description = "only these; 'zernel-record probes' lists them")
    private List<String> kinds = new ArrayList<>();

    @Option(
            names = "--wait-min",
            paramLabel = "TIME",
            converter = Time.class,
            description = "leave out shorter waits (default: 50us)")
    Optional<Duration> waitMin = Optional.empty();

    @Option(
            names = "--gpu-interval",
            paramLabel = "TIME",
            hidden = true, // Help leaves it to the manual page.
            converter = SampleInterval.class,
            description = "between samples of GPUs by the NVIDIA driver, or 'off' (default: 1s)")
    Optional<Duration> gpuInterval = Optional.empty();

    @Option(
            names = "--gpu-activity",
            description = "each GPU kernel's times, by CUPTI in COMMAND")
    boolean gpuActivity;

    @Option(
            names = "--host-interval",
            paramLabel = "TIME",
            hidden = true, // Help leaves it to the manual page.
            converter = SampleInterval.class,
            description = "between samples of the host's CPUs, memory and network, or 'off' (default: 1s)")
    Optional<Duration> hostInterval = Optional.empty();

    @Option(
            names = "--detail",
            paramLabel = "HOW",
            converter = DetailOption.class,
            defaultValue = "auto",
            description = "launches: auto (default), all, off, 5/100")
    Detail detail = Detail.AUTO;

    @Option(
            names = "--overhead-budget",
            hidden = true, // Help leaves it to the manual page.
            paramLabel = "SHARE",
            converter = Share.class,
            defaultValue = "1%",
            description = "that --detail auto may cost (default: ${DEFAULT-VALUE})")
    OptionalDouble overheadBudget = OptionalDouble.empty();

    @Option(
            names = "--stacks",
            paramLabel = "TIME",
            converter = BlockedTime.class,
            description = "from this long a wait, or 'off' (default: 1ms)")
    Optional<Duration> blocked = Optional.empty();

    @Option(
            names = "--sample-rate",
            paramLabel = "HZ",
            hidden = true, // Help leaves it to the manual page.
            converter = SampleRate.class,
            description = "how often a second each CPU is looked at for what runs on it; 0: never (default: 49)")
    Optional<Integer> sampleRate = Optional.empty();

    @Option(
            names = "--hold",
            hidden = true, // Help leaves it to the manual page.
            description = "stop a process of the command that loads a library by surprise until its probes are on")
    boolean hold;

    @Option(names = "--backend", hidden = true, converter = BackendName.class)
    Optional<Backend> backend = Optional.empty();

    /// The kinds that were asked for; empty for those of every recording.
    Set<String> kinds(CommandLine line) {
        List<String> known = Probes.all().stream().map(Probe::kind).toList();
        for (String kind : kinds) {
            if (!known.contains(kind)) {
                throw new ParameterException(
                        line, "unknown kind '" + kind + "': the kinds are " + String.join(", ", known));
            }
        }
        return new LinkedHashSet<>(kinds);
    }

    StackOptions stacks() {
        Duration time = blocked.orElse(StackOptions.DEFAULT.blocked());
        return new StackOptions(time, sampleRate.orElse(time.isZero() ? 0 : StackOptions.DEFAULT.samples()));
    }

    List<ProbeSpec> specs(CommandLine line) {
        try {
            List<ProbeSpec> specs = new ArrayList<>();
            probes.forEach(text -> specs.add(ProbeSpec.parse(text)));
            probeFiles.forEach(file -> specs.addAll(ProbeFile.read(file)));
            return specs;
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, e.getMessage(), e);
        }
    }
}
