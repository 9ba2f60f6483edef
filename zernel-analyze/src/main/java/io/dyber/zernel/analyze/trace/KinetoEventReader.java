package io.dyber.zernel.analyze.trace;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/// The members of one event of a profiler's trace, in whatever order they come.
final class KinetoEventReader {
    /// Why events of other profilers are skipped.
    static final String WITHOUT_CATEGORY = "event without a category";

    private static final long MOST_ELEMENTS = 1L << 50;
    /// Bytes of an element by its type, as in the arguments `dtype` of PyTorch's collectives.
    private static final Map<String, Long> TYPE_BYTES = Map.ofEntries(
            Map.entry("Byte", 1L), Map.entry("Char", 1L), Map.entry("Bool", 1L), Map.entry("Float8_e4m3fn", 1L),
            Map.entry("Float8_e5m2", 1L), Map.entry("Short", 2L), Map.entry("Half", 2L), Map.entry("BFloat16", 2L),
            Map.entry("Int", 4L), Map.entry("Float", 4L), Map.entry("Long", 8L), Map.entry("Double", 8L));

    private final KinetoValues values;
    private final JsonParser parser;
    private final KinetoProcesses processes;
    private final TraceSink sink;
    private final Consumer<String> skipped;
    private @Nullable String phase;
    private @Nullable String category;
    private @Nullable String name;
    private @Nullable Long start;
    private @Nullable Long duration;
    private @Nullable Long owner;
    /// In place of a number, in traces that were merged.
    private @Nullable String ownerText;
    private @Nullable Long lane;
    private @Nullable Long device;
    private @Nullable Long stream;
    private @Nullable Long correlation;
    private @Nullable Long bytes;
    /// Of a collective: elements that a rank sends or receives, whichever are more, and their type as PyTorch names it.
    private @Nullable Long elements;

    private @Nullable String type;
    private final @Nullable Long[] size = new @Nullable Long[6];

    /// @param skipped takes the reason where an event cannot be used
    KinetoEventReader(KinetoValues values, KinetoProcesses processes, TraceSink sink, Consumer<String> skipped) {
        this.values = values;
        this.parser = values.parser();
        this.processes = processes;
        this.sink = sink;
        this.skipped = skipped;
    }

    /// From the begin of the event's object to its end.
    void read() {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String member = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (member) {
                case "ph" -> phase = values.text();
                case "cat" -> category = values.text();
                case "name" -> name = values.text();
                case "ts" -> start = values.nanos();
                case "dur" -> duration = values.nanos();
                case "pid" -> owner(value);
                case "tid" -> lane = values.number();
                case "args" -> arguments(value);
                default -> parser.skipChildren();
            }
        }
        if (!"X".equals(phase)) {
            return;
        }
        TracedEvent.Category known = TracedEvent.Category.of(category, name);
        if (known != null) {
            emit(known);
        } else if (category == null) {
            skipped.accept(WITHOUT_CATEGORY);
        }
    }

    private void owner(JsonToken value) {
        if (value == JsonToken.VALUE_STRING) {
            ownerText = values.text();
        } else {
            owner = values.integer();
        }
    }

    private void arguments(JsonToken value) {
        if (value != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String argument = parser.currentName();
            parser.nextToken();
            switch (argument) {
                case "device" -> device = values.number();
                case "stream" -> stream = values.number();
                case "correlation" -> correlation = values.number();
                case "bytes" -> bytes = values.number();
                case "In msg nelems", "Out msg nelems" -> elements(values.number());
                case "dtype" -> type = values.text();
                case "grid" -> dimensions(0);
                case "block" -> dimensions(3);
                default -> parser.skipChildren();
            }
        }
    }

    private void elements(@Nullable Long count) {
        if (count != null && (elements == null || count > elements)) {
            elements = count;
        }
    }

    /// Bytes that were copied or filled, or that a rank sends or receives in a collective.
    private @Nullable Long sentBytes() {
        Long size = type == null ? null : TYPE_BYTES.get(type);
        return bytes == null && elements != null && size != null && elements <= MOST_ELEMENTS ? Long.valueOf(elements * size) : bytes;
    }

    private void dimensions(int first) {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return;
        }
        for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
            Long value = values.integer();
            if (i < 3) {
                size[first + i] = value;
            }
        }
    }

    private void emit(TracedEvent.Category known) {
        Long process = null;
        if (ownerText != null && known.isOnGpu()) {
            process = processes.ofGpu(ownerText);
            owner = KinetoProcesses.number(ownerText);
        } else if (ownerText != null) {
            owner = processes.of(ownerText);
        }
        if (known.isOnGpu()) {
            owner = device == null ? owner : device;
            lane = stream == null ? lane : stream;
        }
        String flaw = TracedEvent.flaw(known, name, start, duration, owner);
        if (name == null || start == null || duration == null || flaw != null) {
            skipped.accept(String.valueOf(flaw));
        } else {
            sink.accept(new TracedEvent(
                    known, name, start, duration, owner, lane, correlation, sentBytes(), Arrays.asList(size), process));
        }
    }
}
