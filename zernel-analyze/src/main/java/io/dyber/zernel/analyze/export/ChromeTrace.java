package io.dyber.zernel.analyze.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/// Chrome's trace event format, as chrome://tracing, Perfetto, Speedscope and TensorBoard read it.
///
/// A slice is one complete event (`ph` X), so [#end] writes nothing. Times are microseconds since the start of the
/// recording with three decimals, since viewers read them as floating point; `baseTimeNanoseconds` is that start, as
/// PyTorch's profiler writes it.
public final class ChromeTrace implements TraceFormat {
    private final JsonGenerator json;
    private final long zero;

    /// @param out closed with this
    /// @param selection says what time 0 is
    public ChromeTrace(OutputStream out, Selection selection) {
        this.json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), out);
        this.zero = selection.zero();
        json.writeStartObject();
        json.writeStringProperty("displayTimeUnit", "ns");
        json.writeNumberProperty("baseTimeNanoseconds", zero);
        json.writeArrayPropertyStart("traceEvents");
    }

    @Override
    public void track(Track track) {
        switch (track.type()) {
            case PROCESS -> {
                metadata("process_name", track, "name", track.name());
                metadata("process_labels", track, "labels", track.note());
                metadata("process_sort_index", track, "sort_index", (long) track.order());
            }
            case THREAD, SLICES -> {
                metadata("thread_name", track, "name", track.name());
                metadata("thread_sort_index", track, "sort_index", (long) track.order());
            }
            case COUNTER -> {} // begins with its first value
        }
    }

    @Override
    public void begin(Track track, Slice slice) {
        event(slice.isInstant() ? "i" : "X", slice.category(), slice.name(), track, slice.start());
        if (slice.isInstant()) {
            json.writeStringProperty("s", "t");
        } else {
            json.writeName("dur");
            json.writeNumber(micros(slice.duration()));
        }
        arguments(slice.arguments());
        json.writeEndObject();
        Slice.Flow flow = slice.flow();
        if (flow != null) {
            event(flow.first() ? "s" : flow.last() ? "f" : "t", slice.category(), slice.name(), track, slice.start());
            json.writeNumberProperty("id", flow.id());
            json.writeStringProperty("bp", "e");
            json.writeEndObject();
        }
    }

    @Override
    public void end(Track track, long nanos) {}

    @Override
    public void counter(Track track, long nanos, double value) {
        event("C", "counter", track.name(), track, nanos);
        arguments(Map.of(track.note().isEmpty() ? "value" : track.note(), value));
        json.writeEndObject();
    }

    @Override
    public void close() throws IOException {
        json.writeEndArray();
        json.writeEndObject();
        json.writeRaw('\n');
        json.close();
    }

    private void metadata(String what, Track track, String key, Object value) {
        json.writeRaw('\n');
        json.writeStartObject();
        json.writeStringProperty("ph", "M");
        json.writeStringProperty("name", what);
        json.writeNumberProperty("pid", track.pid());
        json.writeNumberProperty("tid", track.tid());
        arguments(Map.of(key, value));
        json.writeEndObject();
    }

    /// Begins an event, which the caller ends.
    private void event(String phase, String category, String name, Track track, long nanos) {
        json.writeRaw('\n');
        json.writeStartObject();
        json.writeStringProperty("ph", phase);
        json.writeStringProperty("cat", category);
        json.writeStringProperty("name", name);
        json.writeNumberProperty("pid", track.pid());
        json.writeNumberProperty("tid", track.tid());
        json.writeName("ts");
        json.writeNumber(micros(nanos - zero));
    }

    private void arguments(Map<String, Object> arguments) {
        if (arguments.isEmpty()) {
            return;
        }
        json.writeObjectPropertyStart("args");
        arguments.forEach((name, value) -> {
            json.writeName(name);
            switch (value) {
                case Long integer -> json.writeNumber(integer);
                case Double real when real == Math.rint(real) && Math.abs(real) < 1e15 -> json.writeNumber(real.longValue());
                case Double real -> json.writeNumber(real);
                default -> json.writeString(value.toString());
            }
        });
        json.writeEndObject();
    }

    /// `1234567` is `1234.567`.
    private static String micros(long nanos) {
        long size = Math.abs(nanos);
        String fraction = Long.toString(1000 + size % 1000).substring(1);
        return (nanos < 0 ? "-" : "") + size / 1000 + "." + fraction;
    }
}
