package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.Division;
import io.dyber.zernel.record.Launches;
import io.dyber.zernel.record.RecordOptions;
import io.dyber.zernel.record.RecordResult;
import io.dyber.zernel.record.Recorder;
import io.dyber.zernel.record.Trigger;
import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.probe.Probe;
import io.dyber.zernel.record.probe.ProbeFile;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.Probes;
import io.dyber.zernel.record.sink.RecordingFile.Owner;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `zernel-record` itself: records until the command ends, the time is over or Ctrl-C.
@Command(
        name = "zernel-record",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        sortOptions = false,
        customSynopsis = "zernel-record [OPTION...] [--] [COMMAND [ARGUMENT...]]",
        descriptionHeading = "%n",
        description = {"Records what a job does, with eBPF probes, into one Parquet file.", ""},
        footer = {
            "",
            "Examples:",
            "  sudo zernel-record -o run.parquet -d 10s                every job on this machine, ten seconds",
            "  sudo zernel-record -o run.parquet -- python3 train.py   one command, from its start",
            "  sudo zernel-record -p 4711 --probe 'libfoo.so:step(bytes=arg2)'",
            "  zernel-record --simulate=healthy --ranks 2 --steps 200 --strength 30%% --seed 1   (or --events N)",
            "",
            "Then: zernel-analyze report run.parquet"
        })
final class RecordCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            defaultValue = "run.parquet",
            description = "where to write (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init")
    private Path output;

    @Option(
            names = {"-p", "--pid"},
            paramLabel = "PID",
            description = "record this running process and its children; repeatable")
    private List<Integer> pids = new ArrayList<>();

    @Option(
            names = {"-a", "--all"},
            description = "record all processes with a probed library: the default")
    private boolean all;

    @Option(
            names = {"-d", "--duration"},
            paramLabel = "TIME",
            converter = Time.class,
            description = "stop after this time, e.g. 10s, 5m, 1h")
    private Optional<Duration> duration = Optional.empty();

    @Option(
            names = "--rotate",
            paramLabel = "TIME|SIZE",
            converter = Rotate.Converter.class,
            description = "begin a new file after e.g. 1h or 1GB: run-20261121T110000Z.parquet")
    private Optional<Rotate> rotate = Optional.empty();

    @Option(
            names = "--flight-recorder",
            paramLabel = "TIME",
            converter = Time.class,
            description = "keep the last e.g. 60s; write them at SIGUSR1, a trigger and the end")
    private Optional<Duration> flightRecorder = Optional.empty();

    @Option(
            names = "--trigger",
            paramLabel = "WHEN",
            description = "'step > 3x median', 'KIND > 500ms' or 'NAME > 500ms'; repeatable")
    private List<String> triggers = new ArrayList<>();

    @Option(
            names = "--keep",
            paramLabel = "N",
            description = "delete the oldest of these files when there are more than N")
    private Optional<Integer> keep = Optional.empty();

    @Option(
            names = "--probe",
            paramLabel = "SPEC",
            description = {
                "also (repeatable) 'LIBRARY:SYMBOL(column=argN, ...)', operators like",
                "'torch_op:aten::*', Python functions like 'py_call:Trainer.*'"
            })
    private List<String> probes = new ArrayList<>();

    @Option(
            names = "--probe-file",
            paramLabel = "FILE",
            description = "probes from a JSON or YAML file; repeatable")
    private List<Path> probeFiles = new ArrayList<>();

    @Option(
            names = "--kinds",
            paramLabel = "KIND",
            split = ",",
            description = "only these kinds of events; 'zernel-record probes' lists them")
    private List<String> kinds = new ArrayList<>();

    @Option(
            names = "--wait-min",
            paramLabel = "TIME",
            converter = Time.class,
            description = "leave out waits shorter than this (default: 50us)")
    private Optional<Duration> waitMin = Optional.empty();

    @Option(
            names = "--gpu-interval",
            paramLabel = "TIME",
            converter = GpuInterval.class,
            description = "time between two samples of the GPUs, or 'off' (default: 1s)")
    private Optional<Duration> gpuInterval = Optional.empty();

    @Option(
            names = "--launches",
            paramLabel = "HOW",
            converter = LaunchesOption.class,
            defaultValue = "all",
            description = "launches and allocations: all, sample:N, count or off"
                    + " (default: ${DEFAULT-VALUE})")
    private Launches launches = Launches.ALL;

    @Option(
            names = "--overhead-budget",
            paramLabel = "SHARE",
            converter = Share.class,
            description = "of one CPU for probes, e.g. 1%%; above it launches are thinned out")
    private OptionalDouble overheadBudget = OptionalDouble.empty();

    @Option(names = "--serve", description = "meanwhile serve metrics and a web page, as 'zernel serve' does")
    private boolean serve;

    @Option(
            names = "--redact",
            description = "keep of command lines the program and the number of arguments only")
    private boolean redact;

    @Option(names = "--backend", hidden = true, converter = BackendName.class)
    private Optional<Backend> backend = Optional.empty();

    @Option(
            names = {"-q", "--quiet"},
            description = "print errors only")
    private boolean quiet;

    @Option(
            names = "--simulate",
            paramLabel = "SCENARIO",
            arity = "0..1",
            fallbackValue = "healthy",
            description = "write a simulated training, as any user; a wrong name lists them")
    private Optional<String> simulate = Optional.empty();

    @Option(names = "--seed", hidden = true, paramLabel = "N", defaultValue = "1", description = "of the simulation (default: 1)")
    private long seed;

    @Option(names = "--steps", hidden = true, paramLabel = "N", defaultValue = "200", description = "to simulate (default: 200)")
    private int steps;

    @Option(
            names = "--events",
            hidden = true,
            paramLabel = "N",
            description = "to simulate: instead of --steps, as many steps as make about so many events")
    private Optional<Long> events = Optional.empty();

    @Option(
            names = "--ranks",
            hidden = true,
            paramLabel = "N",
            description = "to simulate (default: 1, and 4 where the scenario is about ranks)")
    private Optional<Integer> ranks = Optional.empty();

    @Option(
            names = "--strength",
            hidden = true,
            paramLabel = "SHARE",
            converter = Share.class,
            description = "of the step's time that the simulated cause should cost, at most 80%% (default: 30%%)")
    private OptionalDouble strength = OptionalDouble.empty();

    @Parameters(paramLabel = "COMMAND", description = "what to run and record, with its arguments")
    private List<String> command = new ArrayList<>();

    @Override
    public Integer call() {
        if (simulate.isPresent()) {
            return new SimulateCommand(spec.commandLine(), output)
                    .call(simulate.get(), seed, steps, events, ranks, strength);
        }
        RecordOptions options = options();
        Optional<ServeProcess> serving = serve ? Optional.of(new ServeProcess(output, Invoker.owner())) : Optional.empty();
        LiveProgress progress = new LiveProgress(
                spec.commandLine().getErr(), options, quiet, () -> serving.ifPresent(ServeProcess::start));
        Recorder recorder = new Recorder(options, progress);
        if (flightRecorder.isPresent()) {
            OnUserSignal.install(recorder::dump);
        }
        try (StopOnSignal signal = StopOnSignal.install(recorder)) {
            RecordResult result = recorder.record();
            progress.finished(result);
            int status = result.diskFull() ? Record.ENVIRONMENT : result.commandStatus().orElse(0);
            signal.exitWith(status);
            return status;
        } finally {
            serving.ifPresent(ServeProcess::close);
        }
    }

    private RecordOptions options() {
        if (all && (!pids.isEmpty() || !command.isEmpty())) {
            throw new ParameterException(spec.commandLine(), "-a takes no PID and no command");
        }
        RecordOptions defaults = RecordOptions.to(output);
        return new RecordOptions(
                output,
                command,
                new LinkedHashSet<>(pids),
                duration,
                kinds.isEmpty() ? defaults.kinds() : checkedKinds(),
                specs(),
                waitMin.orElse(defaults.waitMin()),
                gpuInterval.orElse(defaults.gpuInterval()),
                launches,
                overheadBudget,
                backend,
                Invoker.owner(),
                spec.commandLine().getParseResult().originalArgs(),
                redact,
                division());
    }

    private Division division() {
        if (rotate.isPresent() && flightRecorder.isPresent()) {
            throw new ParameterException(spec.commandLine(), "--rotate and --flight-recorder exclude each other");
        }
        if (!triggers.isEmpty() && flightRecorder.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--trigger needs --flight-recorder");
        }
        if (keep.isPresent() && (keep.get() < 1 || (rotate.isEmpty() && flightRecorder.isEmpty()))) {
            throw new ParameterException(
                    spec.commandLine(), "--keep needs --rotate or --flight-recorder, and at least one file");
        }
        OptionalInt kept = keep.map(OptionalInt::of).orElse(OptionalInt.empty());
        if (flightRecorder.isPresent()) {
            return new Division.FlightRecorder(window(flightRecorder.get()), triggers(), kept);
        }
        return rotate.isPresent()
                ? new Division.Rotation(rotate.get().time(), rotate.get().bytes(), kept)
                : new Division.None();
    }

    private Duration window(Duration time) {
        if (time.toSeconds() < 1) {
            throw new ParameterException(spec.commandLine(), "--flight-recorder: less than 1s");
        }
        return time;
    }

    private List<Trigger> triggers() {
        try {
            return triggers.stream().map(Trigger::parse).toList();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--trigger: " + e.getMessage(), e);
        }
    }

    private Set<String> checkedKinds() {
        List<String> known = Probes.all().stream().map(Probe::kind).toList();
        for (String kind : kinds) {
            if (!known.contains(kind)) {
                throw new ParameterException(
                        spec.commandLine(), "unknown kind '" + kind + "': the kinds are " + String.join(", ", known));
            }
        }
        return new LinkedHashSet<>(kinds);
    }

    private List<ProbeSpec> specs() {
        try {
            List<ProbeSpec> specs = new ArrayList<>();
            probes.forEach(text -> specs.add(ProbeSpec.parse(text)));
            probeFiles.forEach(file -> specs.addAll(ProbeFile.read(file)));
            return specs;
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
