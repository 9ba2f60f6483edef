package io.dyber.zernel.record;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.ProbedLibraries.Found;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.Demangler;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.event.Texts;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.probe.MappedInode;
import io.dyber.zernel.record.sink.OutputException;
import io.dyber.zernel.record.sink.RecordingFile;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/// The recording while it runs.
final class Session {
    static final int BATCH_ROWS = 32_768;
    static final String DISK_FULL = "disk-full";

    private static final long TICK_MILLIS = 20;
    private static final long STATUS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RecordOptions options;
    private final Progress progress;
    private final Requests requests;
    private final Texts texts;
    private final Clock clock;
    private final KernelSide kernel;
    private final RecordingFile file;
    private final Schema schema;
    private final Overhead overhead;
    private final Decoder decoder;
    private final EventPump pump;
    private final ProbedLibraries libraries;
    private final Attachments attachments;
    private final Holding holding;
    private final LoadedCode code;
    private final FrequentCalls frequent;
    private final Losses losses;
    private final TargetSet targets;
    private final GpuRows gpus;
    private final HostRows host;
    private final MarkRows marking;
    private final Description description;
    private final Parts parts;
    private final Triggers triggers;
    private long quietUntil = System.nanoTime();
    private final Job job;
    private final KernelNames kernelNames;
    private final ClockWatch clocks;
    private Optional<Workload> workload = Optional.empty();
    private String stopReason = "";
    private Path written;

    /// @param time the clocks of the machine, or of a test
    /// @param outlook of what will be loaded
    Session(
            RecordOptions options,
            Progress progress,
            Requests requests,
            Clock.Source time,
            KernelSide kernel,
            RecordingFile file,
            Schema schema,
            Texts texts,
            CallCost cost,
            Outlook outlook) {
        this.options = options;
        this.progress = progress;
        this.requests = requests;
        this.texts = texts;
        this.clock = Clock.read(time);
        this.clocks = new ClockWatch(clock, time);
        this.written = options.output();
        this.kernel = kernel;
        this.file = file;
        this.schema = schema;
        this.overhead = new Overhead(cost, schema, texts);
        this.decoder = new Decoder(
                schema, Programs.wire(), texts, clock.offsetNanos(), BATCH_ROWS, this::write);
        decoder.readFiles(Programs.fileRecord(), MappedInode::pathOf);
        this.pump = new EventPump(kernel.vital(), kernel.bulk(), decoder);
        Demangler demangler = new Demangler();
        this.job = new Job(schema, texts, demangler::demangled);
        this.kernelNames = new KernelNames(job, pump, demangler::demangled);
        this.decoder.interpret("process", job.processes());
        this.decoder.onceGone(job::gone);
        this.frequent = new FrequentCalls(kernel, pump, schema, clock, texts, options);
        this.libraries = new ProbedLibraries(clock);
        this.attachments = new Attachments(kernel, pump, schema, job, frequent, options, libraries, progress);
        this.holding = new Holding(kernel.loads(), Programs.loadLayout(), requests::wake);
        this.code = new LoadedCode(kernel, options, attachments, holding, outlook);
        this.losses = new Losses(kernel, pump, schema, clock, texts);
        this.targets = new TargetSet(kernel, options, pump, schema, job, clock, texts);
        this.gpus = new GpuRows(options, pump, schema, clock, texts);
        this.host = new HostRows(options, pump, schema, clock, texts, targets::recorded);
        this.marking = new MarkRows(options, pump, schema, clock, texts);
        this.description = new Description(
                options, schema, clock, kernel, attachments, losses, targets, gpus, marking, decoder);
        description.add(Footer.LIBRARIES, libraries::describe);
        description.caveat(libraries::caveats);
        description.add(Footer.KERNELS, kernelNames::describe);
        description.add(Footer.LAUNCHES, frequent::describe);
        description.add(Footer.CLOCK, clocks::describe);
        description.add(Footer.HOST, host::describe);
        description.caveat(targets::caveats);
        description.caveat(host::caveats);
        description.caveat(kernelNames::caveats);
        description.caveat(texts::caveats);
        description.add(Footer.OVERHEAD, () -> overhead.describe(attachments.functions().hits(cost)));
        this.triggers = new Triggers(options.division().triggers(), schema, texts);
        this.parts = new Parts(options, file, pump, description, this::count);
    }

    private void write(Batch batch) {
        overhead.add(batch);
        triggers.watch(batch);
        file.write(batch);
    }

    /// Reads the counters and has rows made of them.
    private void count() {
        kernel.readCounters();
        losses.note();
        frequent.note();
    }

    RecordResult run() {
        kernel.names().forEach((id, function) -> decoder.name(id, function.name()));
        pump.start();
        try {
            begin();
        } catch (RuntimeException e) {
            abandon();
            throw e;
        }
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
            end();
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
            Workload started = Workload.start(options.command(), options.owner());
            workload = Optional.of(started);
            kernel.addTarget(started.pid());
            targets.follow(started.pid());
        }
        targets.begin();
        code.begin(workload);
        Set<Integer> running = targets.scan();
        Set<Integer> users = attachments.scan(running, Found.RUNNING);
        targets.addUsers(users);
        if (workload.isEmpty()) {
            code.foresee(running);
        }
        marking.start(options);
        requests.openMarks(marking);
        parts.describe();
        parts.begin();
        CallCost cost = overhead.cost();
        progress.started(new Progress.Started(
                attachments.backend(),
                attachments.functions().attached(),
                cost.returned().recorded(),
                attachments.functions().anyLeft() ? cost.left().recorded() : 0,
                libraries.idle()));
        libraries.begin();
        host.start();
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
        host.stop();
        pump.finish();
        workload.ifPresent(Workload::terminate);
        file.discard();
    }

    private void loop() {
        long start = System.nanoTime();
        long nextStatus = start + STATUS_NANOS;
        long nextDescription = nextStatus;
        while (goesOn(System.nanoTime() - start)) {
            if (System.nanoTime() >= nextStatus) {
                nextStatus += STATUS_NANOS;
                count();
                gpus.notices().forEach(progress::notice);
                clocks.notices().forEach(progress::notice);
                if (System.nanoTime() >= nextDescription) {
                    nextDescription = System.nanoTime() + describe();
                }
                double share = overhead.shareSinceLast(attachments.functions().hits(overhead.cost()));
                frequent.keepWithinBudget(share).ifPresent(progress::notice);
                progress.going(new Progress.Status(
                        System.nanoTime() - start,
                        file.events(),
                        losses.total(),
                        file.bytes(),
                        share));
            }
            targets.addUsers(code.handle());
            targets.addUsers(attachments.scan(targets.scan(), Found.LATE));
            kernelNames.resolve();
            parts.tick();
            dumpWhenAsked();
            sayNotices();
        }
    }

    private void sayNotices() {
        for (Optional<String> line = file.takeNotice(); line.isPresent(); line = file.takeNotice()) {
            progress.notice(line.get());
        }
    }

    /// Describing thousands of processes takes a while: it never takes more than a fiftieth of a CPU.
    ///
    /// @return nanoseconds until it is worth doing again
    private long describe() {
        long start = System.nanoTime();
        parts.describe();
        return 50 * (System.nanoTime() - start);
    }

    /// One incident gives one file: after one that a trigger wrote, the others wait until none of it would be in theirs.
    private void dumpWhenAsked() {
        if (requests.takeDump()) {
            dump("requested", new Triggers.Fired("SIGUSR1", Clock.monotonicNanos() + clock.offsetNanos()));
        }
        Optional<Triggers.Fired> fired = triggers.take();
        if (fired.isPresent() && System.nanoTime() >= quietUntil) {
            quietUntil = System.nanoTime() + options.division().window().toNanos();
            dump("triggered", fired.get());
        }
    }

    private void dump(String stop, Triggers.Fired why) {
        long[] row = {schema.index("name"), texts.id(why.text()), schema.index("ts_ns"), why.nanos()};
        pump.later(decoder -> decoder.add(MarkRows.KIND, row));
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
        if (workload.isEmpty() && !options.pids().isEmpty() && !targets.anyAlive()) {
            return ends("target-exited");
        }
        if (holding.failure().isPresent()) {
            throw holding.failure().get();
        }
        if (pump.failure().isPresent()) {
            return ends(isFullDisk(pump.failure().get()) ? DISK_FULL : "failed");
        }
        try {
            return !requests.awaitStop(TICK_MILLIS) || ends(requests.stopReason());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return ends("signal");
        }
    }

    private boolean ends(String reason) {
        stopReason = reason;
        return false;
    }

    private void end() {
        marking.stop();
        try {
            attachments.detachOuter();
            kernel.detach();
        } finally {
            holding.close();
        }
        Set<Integer> _ = code.handle();
        gpus.stop();
        host.stop();
        gpus.notices().forEach(progress::notice);
        count();
        kernelNames.resolve();
        pump.finish();
        workload.ifPresent(Workload::terminate);
        written = parts.finish(stopReason);
        sayNotices();
        attachments.functions().unmatched().forEach(progress::notice);
    }

    private RecordResult result() {
        OptionalInt status = workload.isPresent() && !workload.get().isAlive()
                ? OptionalInt.of(workload.get().exitStatus())
                : OptionalInt.empty();
        return new RecordResult(
                written,
                file.events(),
                losses.total(),
                file.bytes(),
                parts.incompleteBecause(stopReason),
                stopReason.equals(DISK_FULL),
                status);
    }

    private static boolean isFullDisk(RuntimeException failure) {
        return failure instanceof OutputException e && e.reason() == OutputException.Reason.NO_SPACE;
    }
}
