package io.dyber.zernel.record.rows;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.mark.Mark;
import io.dyber.zernel.record.mark.MarkListener;
import io.dyber.zernel.record.option.RecordOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/// Takes marks, from other processes and from this one, and turns them into rows. Any thread may [#add].
public final class MarkRows {
    public static final String KIND = "mark";

    private final EventWriter writer;
    private final Path output;
    private final long began = Clock.monotonicNanos();
    private Optional<MarkListener> listener = Optional.empty();
    private String problem = "";
    private boolean ended;

    public MarkRows(RecordOptions options, EventWriter writer) {
        this.writer = writer;
        this.output = options.output().toAbsolutePath().normalize();
    }

    /// Begins to listen. Where that is impossible the recording goes on without; [#problem] says why.
    public void start(RecordOptions options) {
        int uid = options.owner().map(owner -> owner.uid()).orElse(-1);
        int gid = options.owner().map(owner -> owner.gid()).orElse(-1);
        try {
            listener = Optional.of(MarkListener.open(uid, gid, this::add));
        } catch (IOException e) {
            problem = "other processes cannot mark: " + e.getMessage();
        }
    }

    /// Why only this process can mark; empty when others can.
    public String problem() {
        return problem;
    }

    /// Writes a row.
    ///
    /// @throws IllegalStateException when the recording has ended
    public synchronized MarkListener.Reply add(Mark mark) {
        if (ended || writer.hasFailed()) {
            throw new IllegalStateException("the recording of '" + output + "' has ended");
        }
        writer.event(KIND, writer.epochNanos(mark.monotonicNanos()))
                .withOneOfMany("name", mark.text())
                .with("pid", mark.pid())
                .with("tid", mark.tid())
                .withOneOfMany("comm", mark.comm())
                .write();
        return new MarkListener.Reply(output, mark.monotonicNanos() - began);
    }

    /// Takes no more.
    public void stop() {
        listener.ifPresent(MarkListener::close);
        synchronized (this) {
            ended = true;
        }
    }
}
