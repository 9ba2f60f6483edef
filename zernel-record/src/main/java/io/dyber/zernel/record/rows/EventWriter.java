package io.dyber.zernel.record.rows;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import java.util.List;
import java.util.stream.LongStream;

/// Writes the events that the recorder makes itself: samples, marks, losses, processes that ran before it began.
///
/// Any thread may use it. The pump's thread adds the events to the file, in the order of the calls.
public final class EventWriter {
    private final EventPump pump;
    private final Schema schema;
    private final StringDictionary texts;
    private final Clock clock;

    public EventWriter(EventPump pump, Schema schema, StringDictionary texts, Clock clock) {
        this.pump = pump;
        this.schema = schema;
        this.texts = texts;
        this.clock = clock;
    }

    /// An event, which still has to be written.
    ///
    /// @param epochNanos when it began
    public NewEvent event(String kind, String name, long epochNanos) {
        return event(kind, epochNanos).with("name", name);
    }

    /// An event that is still to be named.
    NewEvent event(String kind, long epochNanos) {
        return new NewEvent(kind).with("ts_ns", epochNanos);
    }

    /// Nanoseconds since the epoch of a moment of the monotonic clock.
    public long epochNanos(long monotonicNanos) {
        return monotonicNanos + clock.offsetNanos();
    }

    /// Writes events next to each other.
    public void write(List<NewEvent> events) {
        List<long[]> rows = events.stream().map(event -> event.row.build().toArray()).toList();
        pump.later(decoder -> {
            for (int i = 0; i < rows.size(); i++) {
                decoder.add(events.get(i).kind, rows.get(i));
            }
        });
    }

    /// Where a column stands in the rows of [#write(String, List)].
    public int column(String name) {
        return schema.index(name);
    }

    /// The number of a text in such rows.
    public long text(String text) {
        return texts.id(text);
    }

    /// Writes events of a kind as rows of columns and their values, in turns: what comes by the thousand.
    public void write(String kind, List<long[]> rows) {
        pump.later(decoder -> rows.forEach(row -> decoder.add(kind, row)));
    }

    /// Whether nothing can be written any more, because the pump failed.
    boolean hasFailed() {
        return pump.failure().isPresent();
    }

    /// An event that is being made by one thread: its columns and their values. A column that is not given is null.
    public final class NewEvent {
        private final String kind;
        private final LongStream.Builder row = LongStream.builder();

        private NewEvent(String kind) {
            this.kind = kind;
        }

        public NewEvent with(String column, long value) {
            row.add(schema.index(column)).add(value);
            return this;
        }

        /// An empty text is null.
        public NewEvent with(String column, String text) {
            return text.isEmpty() ? this : with(column, texts.id(text));
        }

        /// The same for a text that the recorded job has made up: there may be many.
        public NewEvent withOneOfMany(String column, String text) {
            return text.isEmpty() ? this : with(column, texts.idOfMany(text));
        }

        public void write() {
            EventWriter.this.write(List.of(this));
        }
    }
}
