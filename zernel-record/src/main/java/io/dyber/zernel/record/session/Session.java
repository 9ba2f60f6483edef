package io.dyber.zernel.record.session;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.activity.GpuActivity;
import io.dyber.zernel.record.attach.Attachments;
import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.CallCost;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.attach.DetailProbes;
import io.dyber.zernel.record.attach.Overhead;
import io.dyber.zernel.record.attach.ProbedLibraries.Found;
import io.dyber.zernel.record.attach.ProbedLibraries;
import io.dyber.zernel.record.attach.SystemCallCost;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.Demangler;
import io.dyber.zernel.record.detail.DetailWindows;
import io.dyber.zernel.record.detail.StepWatch;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.option.Progress;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.RecordResult;
import io.dyber.zernel.record.process.MappedInode;
import io.dyber.zernel.record.recording.OutputException;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.rows.EventPump;
import io.dyber.zernel.record.rows.EventWriter;
import io.dyber.zernel.record.rows.GpuRows;
import io.dyber.zernel.record.rows.HostRows;
import io.dyber.zernel.record.rows.MarkRows;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.stack.FrameNames;
import io.dyber.zernel.record.stack.Pythons;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// The recording while it runs.
public final class Session {
    public static final int BATCH_ROWS = 32_768;
    static final String DISK_FULL = "disk-full";
    static final String FAILED = "failed";

    private static final long TICK_MILLIS = 20;
    /// Nothing changes for most of a recording, and most of what does wakes: looking costs the job its CPU.
    private static final long QUIET_TICK_MILLIS = 100;
    private static final long LIVELY_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long STATUS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RecordOptions options;
    private final Progress progress;
    private final Controls controls;
    private final Clock clock;
    private final BpfPrograms kernel;
    private final RecordingFile file;
    private final Overhead overhead;
    private final Decoder decoder;
    private final EventPump pump;
    private final EventWriter writer;
    private final ProbedLibraries libraries;
    private final Attachments attachments;
    private final Holding holding;
    private final LoadedCode code;
    private final DetailProbes detail;
    private final DetailWindows windows;
    private final StepWatch steps;
    private final LossAccounting losses;
    private final TargetSet targets;
    private final GpuRows gpus;
    private final GpuActivity activity;
    private final HostRows host;
    private final MarkRows marking;
    private final FooterBuilder footer;
    private final Rotation parts;
    private final Triggers triggers;
    private long began;
    private long quietUntil = System.nanoTime();
    private volatile long livelyUntil = System.nanoTime() + LIVELY_NANOS;
    private long nextRollCall = System.nanoTime();
    private final Job job;
    private final GpuKernelSymbolizer kernelNames;
    private final Pythons pythons;
    private final ClockWatch clocks;
    private Optional<Workload> workload = Optional.empty();
    private String stopReason = "";
    private Path written;

    /// What has to be there before a recording begins.
    ///
    /// @param cost of a probed call
    /// @param systemCallCost of one that is watched
    /// @param outlook of what will be loaded
    public record Prepared(
            BpfPrograms kernel,
            RecordingFile file,
            Schema schema,
            StringDictionary texts,
            CallCost cost,
            SystemCallCost systemCallCost,
            Outlook outlook) {}

    /// @param time the clocks of the machine, or of a test
    public Session(RecordOptions options, Progress progress, Controls controls, Clock.Source time, Prepared prepared) {
        this.options = options;
        this.progress = progress;
        this.controls = controls;
        this.clock = Clock.read(time);
        this.clocks = new ClockWatch(clock, time);
        this.written = options.output();
        this.kernel = prepared.kernel();
        this.file = prepared.file();
        Schema schema = prepared.schema();
        StringDictionary texts = prepared.texts();
        CallCost cost = prepared.cost();
        this.overhead = new Overhead(cost, prepared.systemCallCost(), schema, texts);
        this.decoder = new Decoder(
                schema, CompiledPrograms.wire(), texts, clock.offsetNanos(), BATCH_ROWS, this::write);
        decoder.readFiles(CompiledPrograms.fileRecord(), MappedInode::pathOf);
        this.pump = new EventPump(kernel.vital(), kernel.bulk(), decoder);
        this.writer = new EventWriter(pump, schema, texts, clock);
        Demangler demangler = new Demangler();
        this.job = new Job(schema, texts, demangler::demangled, this::wakeUp);
        this.kernelNames = new GpuKernelSymbolizer(job, pump, demangler::demangled);
        this.decoder.interpret("process", job.processes());
        this.decoder.onceGone(job::gone);
        this.detail = new DetailProbes(kernel, pump, writer, options.detail());
        this.libraries = new ProbedLibraries(clock);
        this.attachments = new Attachments(kernel, pump, schema, job, detail, options, libraries, progress);
        this.activity = new GpuActivity(options, writer, demangler::demangled);
        this.windows = new DetailWindows(options, attachments, detail, activity, writer, job, cost);
        this.holding = new Holding(kernel.loads(), CompiledPrograms.loadLayout(), controls::wake);
        this.pythons = new Pythons(CompiledPrograms.pythonBtf(), kernel::definePython);
        this.code = new LoadedCode(kernel, options, attachments, holding, prepared.outlook(), pythons);
        FrameNames frameNames = new FrameNames(pythons, demangler::demangled, options.redact());
        this.decoder.readStacks(CompiledPrograms.stackRecord(), CompiledPrograms.codeRecord(), frameNames);
        this.losses = new LossAccounting(kernel, writer);
        this.targets = new TargetSet(kernel, options, pump, writer, job);
        this.gpus = new GpuRows(options, writer);
        this.host = new HostRows(options, writer, targets::recorded);
        this.marking = new MarkRows(options, writer);
        this.footer = new FooterBuilder(
                options, schema, clock, kernel, attachments, losses,
                new KindStates(options, kernel, attachments, gpus, activity, marking), decoder);
        footer.add(Footer.PROCESSES, targets::describe);
        footer.add(Footer.GPUS, gpus::describe);
        footer.add(Footer.GPU_ACTIVITY, activity::describe);
        footer.caveat(activity::caveats);
        footer.add(Footer.LIBRARIES, libraries::describe);
        footer.caveat(libraries::caveats);
        footer.add(Footer.STACKS, new StackFacts(options.stacks(), kernel, pythons, frameNames)::describe);
        footer.add(Footer.KERNELS, kernelNames::describe);
        footer.add(Footer.DETAIL, windows::describe);
        footer.add(Footer.CLOCK, clocks::describe);
        footer.add(Footer.HOST, host::describe);
        footer.caveat(targets::caveats);
        footer.caveat(host::caveats);
        footer.caveat(kernelNames::caveats);
        footer.caveat(texts::caveats);
        footer.add(
                Footer.OVERHEAD,
                () -> overhead.describe(attachments.functions().hits(cost), kernel.systemCalls()));
        this.triggers = new Triggers(options.outputPolicy().triggers(), schema, texts);
        this.steps = new StepWatch(schema, texts);
        steps.listen(triggers::watch);
        steps.listen(windows::add);
        this.parts = new Rotation(options, file, pump, footer, this::count);
    }

    private void write(Batch batch) {
        overhead.add(batch);
        triggers.watch(batch);
        steps.watch(batch);
        file.write(batch);
    }

    /// Reads the counters and has rows made of them.
    private void count() {
        kernel.readCounters();
        losses.note();
        detail.note();
    }

    public RecordResult run() {
        kernel.names().forEach((id, function) -> decoder.name(id, function.name()));
        pump.start();
        try {
            begin();
        } catch (RuntimeException e) {
            abandon();
            throw e;
        }
        began = System.nanoTime();
        Optional<RuntimeException> failure = Optional.empty();
        try {
            loop();
        } catch (RuntimeException e) {
            failure = Optional.of(e);
        }
        finish(failure);
        return result();
    }

    /// Finishes the file also after a failure, and then says which. A full disk is none: that ends a recording.
    private void finish(Optional<RuntimeException> loopFailure) {
        try {
            end(loopFailure);
        } catch (RuntimeException e) {
            throw pump.failure().or(() -> loopFailure).filter(first -> !isFullDisk(first)).orElse(e);
        }
        pump.failure().or(() -> loopFailure).filter(first -> !isFullDisk(first)).ifPresent(first -> {
            throw first;
        });
    }

    private void begin() {
        kernel.attach();
        gpus.start();
        if (!options.command().isEmpty()) {
            Workload started = Workload.start(options.command(), options.owner(), activity::begin);
            workload = Optional.of(started);
            kernel.addTarget(started.pid());
            targets.follow(started.pid());
            started.onceEnded(controls::wake);
        }
        targets.begin();
        code.begin(workload);
        Set<Integer> running = targets.scan();
        look(running);
        Set<Integer> users = attachments.scan(running, Found.RUNNING);
        targets.addUsers(users);
        if (workload.isEmpty()) {
            code.foresee(running);
        }
        marking.start(options);
        controls.openMarks(marking);
        parts.describe();
        parts.begin();
        CallCost cost = overhead.cost();
        progress.started(new Progress.Started(
                attachments.backend(),
                attachments.functions().attached(),
                cost.returned().recorded(),
                attachments.functions().anyTrapped() ? cost.trapped().recorded() : 0,
                libraries.idle()));
        libraries.begin();
        host.start();
        windows.begin();
        workload.ifPresent(Workload::resume);
    }

    /// There is no recording: the output is left as it was.
    private void abandon() {
        marking.stop();
        try {
            kernel.detach();
        } finally {
            holding.close();
        }
        gpus.stop();
        activity.stop();
        host.stop();
        pump.finish();
        workload.ifPresent(Workload::terminate);
        file.discard();
    }

    private void loop() {
        long nextStatus = began + STATUS_NANOS;
        long nextDescription = nextStatus;
        while (goesOn(System.nanoTime() - began)) {
            if (System.nanoTime() >= nextStatus) {
                nextStatus += STATUS_NANOS;
                count();
                gpus.notices().forEach(progress::notice);
                activity.takeNotice().ifPresent(progress::notice);
                clocks.notices().forEach(progress::notice);
                if (System.nanoTime() >= nextDescription) {
                    nextDescription = System.nanoTime() + describe();
                }
                double share = overhead.shareSinceLast(attachments.functions().hits(overhead.cost()));
                progress.going(new Progress.Status(
                        System.nanoTime() - began,
                        file.events(),
                        losses.total(),
                        file.bytes(),
                        share));
            }
            windows.tick().ifPresent(progress::notice);
            targets.addUsers(code.handle());
            targets.addUsers(scan());
            kernelNames.resolve();
            parts.tick();
            dumpWhenAsked();
            sayNotices();
        }
    }

    /// Looks at what has started or loaded code.
    private Set<Integer> scan() {
        Set<Integer> changed = targets.scan();
        // Where everyone is recorded, all are looked at from time to time.
        if (!changed.isEmpty() && !options.everyone()) {
            livelyUntil = System.nanoTime() + LIVELY_NANOS;
        }
        look(changed);
        return attachments.scan(changed, Found.LATE);
    }

    /// Finds the Python of recorded processes, if their stacks are wanted.
    private void look(Set<Integer> changed) {
        if (options.stacks().isOff()) {
            return;
        }
        Set<Integer> recorded = targets.recorded();
        pythons.look(changed.stream().filter(recorded::contains).collect(Collectors.toSet()));
    }

    private void sayNotices() {
        for (Optional<String> line = file.takeNotice(); line.isPresent(); line = file.takeNotice()) {
            progress.notice(line.get());
        }
    }

    /// Describing thousands of processes takes a while: it never takes more than half a percent of a CPU.
    ///
    /// @return nanoseconds until it is worth doing again
    private long describe() {
        long start = System.nanoTime();
        parts.describe();
        return 200 * (System.nanoTime() - start);
    }

    /// One incident gives one file: after one that a trigger wrote, the others wait until none of it would be in theirs.
    private void dumpWhenAsked() {
        if (controls.takeDump()) {
            dump("requested", new Triggers.Fired("SIGUSR1", writer.epochNanos(Clock.monotonicNanos())));
        }
        Optional<Triggers.Fired> fired = triggers.take();
        fired.ifPresent(_ -> windows.trigger());
        if (fired.isPresent() && System.nanoTime() >= quietUntil) {
            quietUntil = System.nanoTime() + options.outputPolicy().window().toNanos();
            dump("triggered", fired.get());
        }
    }

    private void dump(String stop, Triggers.Fired why) {
        writer.event(MarkRows.KIND, why.text(), why.nanos()).write();
        parts.dump(stop, why);
    }

    /// Waits a tick, or less when the recording is to end.
    private boolean goesOn(long elapsed) {
        if (options.duration().isPresent() && elapsed >= options.duration().get().toNanos()) {
            return ends("duration");
        }
        if (workload.isPresent() && !workload.get().isAlive()) {
            return ends("command-exited");
        }
        if (workload.isEmpty() && !options.pids().isEmpty() && System.nanoTime() >= nextRollCall) {
            nextRollCall = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(QUIET_TICK_MILLIS);
            if (!targets.anyAlive()) {
                return ends("target-exited");
            }
        }
        if (holding.failure().isPresent()) {
            throw holding.failure().get();
        }
        if (pump.failure().isPresent()) {
            return false; // the reason is the failure
        }
        try {
            return !controls.awaitStop(tickMillis(elapsed)) || ends(controls.stopReason());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return ends("signal");
        }
    }

    /// A process has begun or ended, or a GPU kernel has no name yet. From now on one looks often, so only the first of many
    /// wakes.
    private void wakeUp() {
        long now = System.nanoTime();
        boolean sleeps = now >= livelyUntil;
        livelyUntil = now + LIVELY_NANOS;
        if (sleeps) {
            controls.wake();
        }
    }

    /// Windows begin and end with steps, and loads that are not heard of are found by looking.
    private long tickMillis(long elapsed) {
        boolean lively = windows.comeAndGo() || !kernel.hearsOfLoads() || System.nanoTime() < livelyUntil;
        long tick = lively ? TICK_MILLIS : QUIET_TICK_MILLIS;
        long left = options.duration().map(whole -> whole.minusNanos(elapsed).toMillis() + 1).orElse(tick);
        return Math.min(tick, left);
    }

    private boolean ends(String reason) {
        stopReason = reason;
        return false;
    }

    private void end(Optional<RuntimeException> loopFailure) {
        marking.stop();
        windows.end();
        try {
            attachments.detachOuter();
            holding.end();
            kernel.detach();
        } finally {
            holding.close();
        }
        Set<Integer> _ = code.handle();
        gpus.stop();
        activity.stop();
        activity.takeNotice().ifPresent(progress::notice);
        host.stop();
        gpus.notices().forEach(progress::notice);
        count();
        kernelNames.resolve();
        pump.finish();
        // Of kernels that were first launched just now.
        kernelNames.resolve();
        // A command does not end by what fails its recording, but by what ends that.
        if (!stopReason.isEmpty()) {
            workload.ifPresent(Workload::terminate);
        }
        stopReason = reason(stopReason, loopFailure, pump.failure());
        written = parts.finish(stopReason);
        sayNotices();
        attachments.functions().unmatched().forEach(progress::notice);
    }

    /// Whether the command goes on though its recording is over, as after a failure or on a full disk.
    public boolean leavesCommand() {
        return workload.filter(Workload::goesOn).isPresent();
    }

    /// Waits until the command has ended that was left running; the end of the recording's time and a stop that is asked for
    /// end it too.
    public void awaitCommand() throws InterruptedException {
        while (leavesCommand()) {
            boolean isTime = options.duration().isPresent()
                    && System.nanoTime() - began >= options.duration().get().toNanos();
            if (controls.awaitStop(QUIET_TICK_MILLIS) || isTime) {
                workload.ifPresent(Workload::terminate);
            }
        }
    }

    /// The exit status of the command, if it has ended by itself.
    public OptionalInt commandStatus() {
        return workload.filter(Workload::hasEnded).isPresent()
                ? OptionalInt.of(workload.get().exitStatus())
                : OptionalInt.empty();
    }

    private RecordResult result() {
        return new RecordResult(
                written,
                file.events(),
                losses.total(),
                file.bytes(),
                parts.incompleteBecause(stopReason),
                stopReason.equals(DISK_FULL),
                commandStatus());
    }

    /// What the footer has as `stop`. A failure is it also where it came after the recording was to end: what was read of the
    /// rings after that is not in the file.
    ///
    /// @param stop what ended the recording, empty where that was a failure
    /// @param loop how the recording's thread failed
    /// @param pump how the pump failed
    static String reason(String stop, Optional<RuntimeException> loop, Optional<RuntimeException> pump) {
        return pump.or(() -> loop).map(failure -> isFullDisk(failure) ? DISK_FULL : FAILED).orElse(stop);
    }

    /// Of what [#reason] gives, what nobody asked for.
    static boolean isFailure(String stop) {
        return stop.equals(DISK_FULL) || stop.equals(FAILED);
    }

    private static boolean isFullDisk(RuntimeException failure) {
        return failure instanceof OutputException e && e.reason() == OutputException.Reason.NO_SPACE;
    }
}
