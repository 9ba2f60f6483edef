package io.dyber.zernel.record;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.event.Texts;
import io.dyber.zernel.record.mark.Mark;
import io.dyber.zernel.record.mark.MarkListener;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.LongStream;

/// Takes marks, from other processes and from this one, and turns them into rows. Any thread may [#add].
final class MarkRows {
    static final String KIND = "mark";

    private final EventPump pump;
    private final Schema schema;
    private final Texts texts;
    private final Path output;
    private final long clockOffset;
    private final long began = Clock.monotonicNanos();
    private Optional<MarkListener> listener = Optional.empty();
    private String problem = "";
    private boolean ended;

    MarkRows(RecordOptions options, EventPump pump, Schema schema, Clock clock, Texts texts) {
        this.pump = pump;
        this.schema = schema;
        this.texts = texts;
        this.output = options.output().toAbsolutePath().normalize();
        this.clockOffset = clock.offsetNanos();
    }

    /// Begins to listen. Where that is impossible the recording goes on without; [#problem] says why.
    void start(RecordOptions options) {
        int uid = options.owner().map(owner -> owner.uid()).orElse(-1);
        int gid = options.owner().map(owner -> owner.gid()).orElse(-1);
        try {
            listener = Optional.of(MarkListener.open(uid, gid, this::add));
        } catch (IOException e) {
            problem = "other processes cannot mark: " + e.getMessage();
        }
    }

    /// Why only this process can mark; empty when others can.
    String problem() {
        return problem;
    }

    /// Writes a row.
    ///
    /// @throws IllegalStateException when the recording has ended
    synchronized MarkListener.Reply add(Mark mark) {
        if (ended || pump.failure().isPresent()) {
            throw new IllegalStateException("the recording of '" + output + "' has ended");
        }
        LongStream.Builder row = LongStream.builder()
                .add(schema.index("name")).add(texts.id(mark.text()))
                .add(schema.index("ts_ns")).add(mark.monotonicNanos() + clockOffset)
                .add(schema.index("pid")).add(mark.pid())
                .add(schema.index("tid")).add(mark.tid());
        if (!mark.comm().isEmpty()) {
            row.add(schema.index("comm")).add(texts.id(mark.comm()));
        }
        long[] values = row.build().toArray();
        pump.later(decoder -> decoder.add(KIND, values));
        return new MarkListener.Reply(output, mark.monotonicNanos() - began);
    }

    /// Takes no more.
    void stop() {
        listener.ifPresent(MarkListener::close);
        synchronized (this) {
            ended = true;
        }
    }
}
