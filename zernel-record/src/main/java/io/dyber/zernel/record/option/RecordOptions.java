package io.dyber.zernel.record.option;

import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.recording.RecordingFile.Owner;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// What to record and where to.
///
/// @param output the Parquet file; one that is there is kept under another name
/// @param command to start and record; empty for none
/// @param pids running processes to record with their children; empty with an empty command means every process that
///     loads a probed library
/// @param duration after which to stop by itself
/// @param kinds of events wanted
/// @param probes the user's own
/// @param waitMin shorter waits are not recorded
/// @param gpuInterval between two samples of the GPUs; zero for none
/// @param hostInterval between two samples of the host; zero for none
/// @param gpuActivity whether what runs on the GPUs of the command is recorded, by a library in its processes
/// @param detail how much of the calls that come by the thousand
/// @param overheadBudget share of a step by which detail may make it longer in the mean, with [Detail.Mode#AUTO]
/// @param stacks of what a stack is taken
/// @param backend forced instead of the best one
/// @param owner of the files and of the command, when not the user running the recorder
/// @param words of the command line, for the footer
/// @param redact leave the arguments of all command lines out of the recording
/// @param outputPolicy into which files the recording goes
/// @param hold processes of the command that load a library by surprise, until it is probed
public record RecordOptions(
        Path output,
        List<String> command,
        Set<Integer> pids,
        Optional<Duration> duration,
        Set<String> kinds,
        List<ProbeSpec> probes,
        Duration waitMin,
        Duration gpuInterval,
        Duration hostInterval,
        boolean gpuActivity,
        Detail detail,
        double overheadBudget,
        StackOptions stacks,
        Optional<Backend> backend,
        Optional<Owner> owner,
        List<String> words,
        boolean redact,
        OutputPolicy outputPolicy,
        boolean hold) {
    /// Of [Detail.Mode#AUTO].
    public static final double OVERHEAD_BUDGET = 0.01;
    /// The kind of rows that say what ran on a CPU.
    public static final String SAMPLE = "sample";
    static final Duration WAIT_MIN = Duration.ofNanos(50_000);
    static final Duration GPU_INTERVAL = Duration.ofSeconds(1);
    static final Duration HOST_INTERVAL = Duration.ofSeconds(1);

    public RecordOptions {
        command = List.copyOf(command);
        pids = Set.copyOf(pids);
        kinds = Set.copyOf(kinds);
        probes = List.copyOf(probes);
        words = List.copyOf(words);
    }

    /// Everything the recorder records by default, into `output`.
    public static RecordOptions to(Path output) {
        Set<String> kinds = new LinkedHashSet<>(
                Probes.all().stream().map(Probe::kind).toList());
        return new RecordOptions(
                output,
                List.of(),
                Set.of(),
                Optional.empty(),
                kinds,
                List.of(),
                WAIT_MIN,
                GPU_INTERVAL,
                HOST_INTERVAL,
                false,
                Detail.AUTO,
                OVERHEAD_BUDGET,
                StackOptions.DEFAULT,
                Optional.empty(),
                Optional.empty(),
                List.of(),
                false,
                new OutputPolicy.None(),
                false);
    }

    /// The same for a command.
    public RecordOptions running(List<String> started) {
        return new RecordOptions(
                output, started, pids, duration, kinds, probes, waitMin, gpuInterval, hostInterval, gpuActivity, detail, overheadBudget, stacks, backend, owner, words, redact, outputPolicy, hold);
    }

    /// The same for running processes.
    public RecordOptions attachedTo(Set<Integer> running) {
        return new RecordOptions(
                output, command, running, duration, kinds, probes, waitMin, gpuInterval, hostInterval, gpuActivity, detail, overheadBudget, stacks, backend, owner, words, redact, outputPolicy, hold);
    }

    /// The same, stopping after a while.
    public RecordOptions during(Duration time) {
        return new RecordOptions(
                output, command, pids, Optional.of(time), kinds, probes, waitMin, gpuInterval, hostInterval, gpuActivity, detail, overheadBudget, stacks, backend, owner, words, redact, outputPolicy, hold);
    }

    /// The kinds that are seen in the kernel, or would be.
    public Set<String> kernelKinds() {
        Set<String> wanted = new LinkedHashSet<>(kinds);
        if (stacks.samples() == 0) {
            wanted.remove(SAMPLE);
        }
        return wanted;
    }

    /// How command lines are written down.
    public CommandLines commandLines() {
        return new CommandLines(redact);
    }

    /// What is probed, in the libraries where it is found.
    public List<FunctionProbe> hooks() {
        List<FunctionProbe> hooks = new ArrayList<>();
        for (Probe probe : Probes.all()) {
            if (kinds.contains(probe.kind())) {
                hooks.addAll(probe.hooks());
            }
        }
        probes.forEach(spec -> hooks.addAll(FunctionProbe.asked(spec)));
        return hooks;
    }

    /// Whether processes may be held: those of our own command, of which nobody else knows.
    public boolean holds() {
        return hold && !command.isEmpty() && pids.isEmpty();
    }

    /// Whether there are no chosen processes.
    public boolean everyone() {
        return command.isEmpty() && pids.isEmpty();
    }
}
