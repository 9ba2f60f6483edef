package io.dyber.zernel.analyze.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.Map;

/// Perfetto's own format: a protobuf `Trace` of `TrackEvent` packets with interned names.
///
/// Field numbers are those of perfetto 0.59.1, `protos/perfetto/trace/trace_packet.proto`,
/// `track_event/{track_event,track_descriptor,process_descriptor,thread_descriptor,counter_descriptor,debug_annotation}.proto`,
/// `interned_data/interned_data.proto`, `clock_snapshot.proto` and `trace_packet_defaults.proto`. Times are nanoseconds
/// since the epoch on the clock REALTIME, which is made the clock of the trace.
public final class PerfettoTrace implements TraceFormat {
    private static final int TRACE_PACKET = 1;

    // TracePacket
    private static final int CLOCK_SNAPSHOT = 6;
    private static final int TIMESTAMP = 8;
    private static final int SEQUENCE_ID = 10;
    private static final int TRACK_EVENT = 11;
    private static final int INTERNED_DATA = 12;
    private static final int SEQUENCE_FLAGS = 13;
    private static final int DEFAULTS = 59;
    private static final int TRACK_DESCRIPTOR = 60;

    private static final int ONLY_SEQUENCE = 1;
    private static final int INCREMENTAL_STATE_CLEARED = 1;
    private static final int NEEDS_INCREMENTAL_STATE = 2;
    private static final int REALTIME = 1;

    // TrackEvent
    private static final int CATEGORY_IIDS = 3;
    private static final int DEBUG_ANNOTATIONS = 4;
    private static final int TYPE = 9;
    private static final int NAME_IID = 10;
    private static final int TRACK_UUID = 11;
    private static final int COUNTER_VALUE = 30;
    private static final int DOUBLE_COUNTER_VALUE = 44;
    private static final int FLOW_IDS = 47;
    private static final int TERMINATING_FLOW_IDS = 48;

    private static final int SLICE_BEGIN = 1;
    private static final int SLICE_END = 2;
    private static final int INSTANT = 3;
    private static final int COUNTER = 4;

    /// Names that are known at once; the reader's memory is bounded by it as well.
    private static final int MOST_INTERNED = 1 << 16;

    private final OutputStream out;
    private final Interned categories = new Interned(1);
    private final Interned names = new Interned(2);
    private final Interned annotations = new Interned(3);
    private final Protobuf packet = new Protobuf();
    private final Protobuf event = new Protobuf();
    private final Protobuf annotation = new Protobuf();
    private final Protobuf newNames = new Protobuf();

    /// @param out closed with this
    /// @param selection says when the trace begins
    public PerfettoTrace(OutputStream out, Selection selection) throws IOException {
        this.out = out;
        Protobuf clock = new Protobuf().integer(1, REALTIME).integer(2, selection.zero());
        Protobuf snapshot = new Protobuf().message(1, clock).integer(2, REALTIME);
        packet.clear().message(CLOCK_SNAPSHOT, snapshot).integer(SEQUENCE_ID, ONLY_SEQUENCE).writeTo(out, TRACE_PACKET);
        forgetNames();
    }

    @Override
    public void track(Track track) throws IOException {
        Protobuf descriptor = new Protobuf().integer(1, track.id());
        if (track.parent() != null) {
            descriptor.integer(5, track.parent().id());
        }
        switch (track.type()) {
            case PROCESS -> {
                Protobuf process = new Protobuf().integer(1, track.pid()).text(6, track.name());
                if (!track.note().isEmpty()) {
                    process.text(2, track.note()).text(8, track.note());
                }
                descriptor.message(3, process).integer(11, 3); // children in explicit order
            }
            case THREAD -> descriptor.message(
                    4, new Protobuf().integer(1, track.pid()).integer(2, track.tid()).text(5, track.name()));
            case SLICES -> descriptor.text(2, track.name()).integer(15, 2); // not merged with those of the same name
            case COUNTER -> descriptor.text(2, track.name()).message(8, unit(track.note()));
        }
        descriptor.integer(12, track.order());
        packet.clear().message(TRACK_DESCRIPTOR, descriptor).integer(SEQUENCE_ID, ONLY_SEQUENCE).writeTo(out, TRACE_PACKET);
    }

    private static Protobuf unit(String unit) {
        return unit.equals("bytes") ? new Protobuf().integer(3, 3) : new Protobuf().text(6, unit);
    }

    @Override
    public void begin(Track track, Slice slice) throws IOException {
        if (names.size() > MOST_INTERNED) {
            forgetNames();
        }
        newNames.clear();
        event.clear()
                .integer(TYPE, slice.isInstant() ? INSTANT : SLICE_BEGIN)
                .integer(TRACK_UUID, track.id())
                .integer(CATEGORY_IIDS, categories.number(slice.category()))
                .integer(NAME_IID, names.number(slice.name()));
        slice.arguments().forEach(this::annotate);
        Slice.Flow flow = slice.flow();
        if (flow != null) {
            event.fixed(flow.last() ? TERMINATING_FLOW_IDS : FLOW_IDS, flow.id());
        }
        write(slice.start());
    }

    @Override
    public void end(Track track, long nanos) throws IOException {
        newNames.clear();
        event.clear().integer(TYPE, SLICE_END).integer(TRACK_UUID, track.id());
        write(nanos);
    }

    @Override
    public void counter(Track track, long nanos, double value) throws IOException {
        newNames.clear();
        event.clear().integer(TYPE, COUNTER).integer(TRACK_UUID, track.id());
        if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            event.integer(COUNTER_VALUE, (long) value);
        } else {
            event.real(DOUBLE_COUNTER_VALUE, value);
        }
        write(nanos);
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    private void annotate(String name, Object value) {
        annotation.clear().integer(1, annotations.number(name));
        switch (value) {
            case Long integer -> annotation.integer(4, integer);
            case Double real -> annotation.real(5, real);
            default -> annotation.text(6, value.toString());
        }
        event.message(DEBUG_ANNOTATIONS, annotation);
    }

    private void write(long nanos) throws IOException {
        packet.clear()
                .integer(TIMESTAMP, nanos)
                .integer(SEQUENCE_ID, ONLY_SEQUENCE)
                .integer(SEQUENCE_FLAGS, NEEDS_INCREMENTAL_STATE);
        if (!newNames.isEmpty()) {
            packet.message(INTERNED_DATA, newNames);
        }
        packet.message(TRACK_EVENT, event).writeTo(out, TRACE_PACKET);
    }

    private void forgetNames() throws IOException {
        categories.clear();
        names.clear();
        annotations.clear();
        packet.clear()
                .integer(SEQUENCE_ID, ONLY_SEQUENCE)
                .integer(SEQUENCE_FLAGS, INCREMENTAL_STATE_CLEARED)
                .message(DEFAULTS, new Protobuf().integer(58, REALTIME))
                .writeTo(out, TRACE_PACKET);
    }

    /// Texts of one field of `InternedData`, each written once.
    private final class Interned {
        private final int field;
        private final Map<String, Integer> numbers = new HashMap<>();

        Interned(int field) {
            this.field = field;
        }

        int number(String text) {
            Integer known = numbers.get(text);
            if (known != null) {
                return known;
            }
            int number = numbers.size() + 1;
            numbers.put(text, number);
            newNames.message(field, new Protobuf().integer(1, number).text(2, text));
            return number;
        }

        int size() {
            return numbers.size();
        }

        void clear() {
            numbers.clear();
        }
    }
}
