package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.Recorder;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.RecordResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/// `zernel-record` itself: records until the command ends, the time is over or Ctrl-C.
@Command(
        name = "zernel-record",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        customSynopsis = "zernel-record [OPTION...] [--] [COMMAND [ARGUMENT...]]",
        description = "Records what a job does, with eBPF probes, into one Parquet file.",
        footer = {
            "",
            "Examples:",
            "  sudo zernel-record -d 10s                 ten seconds of every job here",
            "  sudo zernel-record -- python3 train.py    one command, from its start",
            "  sudo zernel-record -p 4711 --probe 'libfoo.so:step(role=step, bytes=arg2)'",
            "  zernel-record --simulate=straggler-rank --ranks 4 --seed 1",
            "",
            "--simulate takes --seed N, --steps N, --ranks N, --strength 30%% (at most 80%%).",
            "Then: zernel-analyze report run.parquet"
        })
final class RecordCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = {"-p", "--pid"},
            paramLabel = "PID",
            description = "this process and its children; repeatable")
    private List<Integer> pids = new ArrayList<>();

    @Option(
            names = {"-a", "--all"},
            description = "all processes with a probed library: the default")
    private boolean all;

    @Option(
            names = {"-d", "--duration"},
            paramLabel = "TIME",
            converter = Time.class,
            description = "stop after this time, e.g. 10s, 5m, 1h")
    private Optional<Duration> duration = Optional.empty();

    @Option(names = "--serve", description = "meanwhile serve metrics and a web page")
    private boolean serve;

    @Option(names = "--redact", description = "keep of command lines only the program")
    private boolean redact;

    @Option(
            names = {"-q", "--quiet"},
            description = "print errors only")
    private boolean quiet;

    @Option(
            names = "--simulate",
            paramLabel = "SCENARIO",
            arity = "0..1",
            fallbackValue = "healthy",
            completionCandidates = ScenarioNames.class,
            description = "write a simulation; a wrong name lists them")
    private Optional<String> simulate = Optional.empty();

    @Mixin
    private SimulateOptions simulation = new SimulateOptions();

    @ArgGroup(validate = false, heading = "Files:%n", order = 1)
    private FileOptions files = new FileOptions();

    @ArgGroup(validate = false, heading = "Events:%n", order = 2)
    private EventOptions events = new EventOptions();

    @Parameters(paramLabel = "COMMAND", hidden = true, description = "what to run and record, with its arguments")
    private List<String> command = new ArrayList<>();

    @Override
    public Integer call() {
        if (simulate.isPresent()) {
            return new SimulateCommand(spec.commandLine(), files.output, quiet).call(simulate.get(), simulation);
        }
        RecordOptions options = options();
        Optional<ServeProcess> serving = serve ? Optional.of(new ServeProcess(files.output, Invoker.owner())) : Optional.empty();
        LiveProgress progress = new LiveProgress(
                spec.commandLine().getErr(), options, quiet, () -> serving.ifPresent(ServeProcess::start));
        Recorder recorder = new Recorder(options, progress);
        if (files.isFlightRecorder()) {
            OnUserSignal.install(recorder::dump);
        }
        try (StopOnSignal signal = StopOnSignal.install(recorder)) {
            int status = record(recorder, progress);
            signal.exitWith(status);
            return status;
        } finally {
            serving.ifPresent(ServeProcess::close);
        }
    }

    /// A command whose recording ended before it, on a full disk or by a failure, goes on, and is waited for as ever.
    private int record(Recorder recorder, LiveProgress progress) {
        OptionalInt command;
        int failed;
        try {
            RecordResult result = recorder.record();
            progress.finished(result);
            command = result.commandStatus();
            failed = result.diskFull() ? Record.ENVIRONMENT : 0;
        } catch (RuntimeException e) {
            if (!recorder.leavesCommand() && recorder.commandStatus().isEmpty()) {
                throw e;
            }
            failed = Record.report(e, spec.commandLine());
            command = recorder.commandStatus();
        }
        if (recorder.leavesCommand()) {
            progress.notice("the command goes on without being recorded; Ctrl-C ends it");
            awaitCommand(recorder);
            command = recorder.commandStatus();
        }
        int status = command.orElse(0);
        return status == 0 ? failed : status;
    }

    private static void awaitCommand(Recorder recorder) {
        try {
            recorder.awaitCommand();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private RecordOptions options() {
        CommandLine line = spec.commandLine();
        if (all && (!pids.isEmpty() || !command.isEmpty())) {
            throw new ParameterException(line, "-a takes no PID and no command");
        }
        if (events.gpuActivity && command.isEmpty()) {
            throw new ParameterException(line, "--gpu-activity needs a command: it is loaded into processes as they start");
        }
        RecordOptions defaults = RecordOptions.to(files.output);
        Set<String> kinds = events.kinds(line);
        return new RecordOptions(
                files.output,
                command,
                new LinkedHashSet<>(pids),
                duration,
                kinds.isEmpty() ? defaults.kinds() : kinds,
                events.specs(line),
                events.waitMin.orElse(defaults.waitMin()),
                events.gpuInterval.orElse(defaults.gpuInterval()),
                events.hostInterval.orElse(defaults.hostInterval()),
                events.gpuActivity,
                events.detail,
                events.overheadBudget.orElse(RecordOptions.OVERHEAD_BUDGET),
                events.stacks(),
                events.backend,
                Invoker.owner(),
                line.getParseResult().originalArgs(),
                redact,
                files.outputPolicy(line),
                events.hold);
    }
}
