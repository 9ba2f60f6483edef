package io.dyber.zernel.record;

import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.CallCost;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.attach.RingSizes;
import io.dyber.zernel.record.attach.SystemCallCost;
import io.dyber.zernel.record.attach.UserColumns;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.host.MemoryLimit;
import io.dyber.zernel.record.option.Progress;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.RecordResult;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.recording.OutputException;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.rows.MemoryFull;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.session.Controls;
import io.dyber.zernel.record.session.Outlook;
import io.dyber.zernel.record.session.PidNamespace;
import io.dyber.zernel.record.session.Session;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;

/// One recording, from attaching to the finished file.
///
/// ```java
/// RecordOptions options = RecordOptions.to(Path.of("run.parquet")).running(List.of("python3", "train.py"));
/// RecordResult result = new Recorder(options, new Progress() {}).record();
/// ```
///
/// [#stop], [#dump], [#mark] and [#awaitFinished] may be called from any thread; everything else belongs to the thread that
/// called [#record].
public final class Recorder {
    private final RecordOptions options;
    private final Progress progress;
    private final Clock.Source time;
    private final Controls controls = new Controls();
    private final CountDownLatch finished = new CountDownLatch(1);
    private Optional<Session> session = Optional.empty();

    public Recorder(RecordOptions options, Progress progress) {
        this(options, progress, Clock.Source.MACHINE);
    }

    Recorder(RecordOptions options, Progress progress, Clock.Source time) {
        this.options = options;
        this.progress = progress;
        this.time = time;
    }

    /// Ends the recording soon; [#record] then finishes the file and returns.
    ///
    /// @param reason for the footer: `signal`, ...
    public void stop(String reason) {
        controls.stop(reason);
    }

    /// Has a flight recorder write its file soon, and go on. May be called from any thread.
    public void dump() {
        controls.dump();
    }

    /// Names this moment in the recording. May be called from any thread.
    ///
    /// @param text at most 1 KiB of UTF-8
    /// @throws IllegalStateException when nothing is being recorded
    /// @throws IllegalArgumentException when the text is blank or too long
    public void mark(String text) {
        controls.mark(text);
    }

    /// Waits until [#record] is done, however it ends.
    public void awaitFinished() throws InterruptedException {
        finished.await();
    }

    /// Records until the command or the processes end, the time is over or [#stop] is called.
    ///
    /// @throws RecorderException when a process or command is not there, or the processes' numbers here are not the kernel's
    /// @throws io.dyber.zernel.record.bpf.BpfException when this machine does not let us record; nothing is left behind
    /// @throws io.dyber.zernel.record.recording.OutputException when the output cannot be written
    public RecordResult record() {
        try {
            return recordThrough();
        } catch (OutOfMemoryError _) {
            throw MemoryFull.exception();
        } finally {
            finished.countDown();
        }
    }

    /// Whether the command still runs though [#record] is done, as after a failure or on a full disk, which are not its concern.
    public boolean leavesCommand() {
        return session.filter(Session::leavesCommand).isPresent();
    }

    /// Waits until the command has ended that was left running; the end of the recording's time and [#stop] end it too.
    public void awaitCommand() throws InterruptedException {
        if (session.isPresent()) {
            session.get().awaitCommand();
        }
    }

    /// The exit status of the command; empty without one, while it runs, and for one that never ran or was told to end.
    public OptionalInt commandStatus() {
        return session.map(Session::commandStatus).orElse(OptionalInt.empty());
    }

    private RecordResult recordThrough() {
        PidNamespace.problem().ifPresent(problem -> {
            throw new RecorderException("recording from " + problem, PidNamespace.FIX);
        });
        for (int pid : options.pids()) {
            if (ProcessHandle.of(pid).isEmpty()) {
                throw new RecorderException("recording process " + pid + ": no such process", "");
            }
        }
        Outlook outlook = Outlook.begin(options);
        Schema schema = CompiledPrograms.schema(UserColumns.of(options.probes()));
        StringDictionary texts = new StringDictionary();
        OptionalLong limit = MemoryLimit.ofThisProcess();
        RecordingFile.Options defaults = new RecordingFile.Options(RecordingFile.Options.rowsWithin(limit), Optional.empty())
                .keeping(options.outputPolicy().kept());
        RecordingFile.Options fileOptions = options.owner().map(defaults::withOwner).orElse(defaults);
        try (WarmUp warming = WarmUp.begin(schema);
                BpfPrograms kernel = new BpfPrograms(options, schema, RingSizes.within(limit));
                RecordingFile file =
                        RecordingFile.create(options.output(), schema.columns(), texts, fileOptions)) {
            CallCost cost = callCost(kernel, schema);
            SystemCallCost systemCallCost = SystemCallCost.measure(kernel, schema);
            warming.await();
            Session.Prepared prepared = new Session.Prepared(kernel, file, schema, texts, cost, systemCallCost, outlook);
            session = Optional.of(new Session(options, progress, controls, time, prepared));
            return session.get().run();
        }
    }

    private CallCost callCost(BpfPrograms kernel, Schema schema) {
        boolean wanted = !options.probes().isEmpty()
                || Probes.all().stream().anyMatch(probe -> probe.isOfFunctions() && options.kinds().contains(probe.kind()));
        return wanted ? CallCost.measure(kernel, schema) : CallCost.unknown("no kind of probed functions was asked for");
    }
}
