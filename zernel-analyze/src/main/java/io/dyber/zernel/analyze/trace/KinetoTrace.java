package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.format.RecordingException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/// A trace that PyTorch's profiler (Kineto) wrote, read event by event: its size does not matter.
///
/// Times are `ts`, microseconds with a fraction after `baseTimeNanoseconds`, which stands before or behind the events;
/// without it, since the epoch. What ran on the GPU has its GPU in place of a process and its stream in place of a thread.
/// An event that is no JSON, as with names in which PyTorch 2.0 left quotes as they were, is skipped up to the next line
/// that begins one.
public final class KinetoTrace {
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
            .enable(JsonReadFeature.ALLOW_BACKSLASH_ESCAPING_ANY_CHARACTER)
            .build();
    /// Bytes that may be read a second time: more than a parser reads ahead.
    private static final int MOST_AHEAD = 1 << 16;

    private final Path path;
    private final PushbackInputStream stream;
    private final TraceSink sink;
    private final KinetoProcesses processes = new KinetoProcesses();
    private final Map<String, Long> skipped = new LinkedHashMap<>();
    private @Nullable Long base;
    private @Nullable Long rank;
    private @Nullable Long ranks;
    private JsonParser parser;
    private KinetoValues values;
    private long events;
    private boolean hasEvents;
    private boolean isArray;
    /// Whether the events are not at their end, and whether one of them is not.
    private boolean inEvents;
    private boolean inEvent;

    private KinetoTrace(Path path, PushbackInputStream stream, TraceSink sink) {
        this.path = path;
        this.stream = stream;
        this.sink = sink;
        this.parser = JSON.createParser(ObjectReadContext.empty(), stream);
        this.values = new KinetoValues(parser);
    }

    /// Whether a file is JSON, compressed or not, by its first bytes.
    public static boolean isOne(Path file) {
        if (!Files.isRegularFile(file)) {
            return false; // opening a pipe would wait for its other end
        }
        try (InputStream stream = Files.newInputStream(file)) {
            byte[] start = stream.readNBytes(256);
            String text = new String(start, StandardCharsets.ISO_8859_1).stripLeading();
            return text.startsWith("{") || text.startsWith("[") || isGzip(start);
        } catch (IOException _) {
            return false; // opening it says why
        }
    }

    /// Hands the events that matter to `sink`.
    ///
    /// @throws RecordingException if it is no such trace, or damaged before its first event
    static TraceHeader read(Path path, TraceSink sink) {
        try (PushbackInputStream stream = new PushbackInputStream(open(path), MOST_AHEAD)) {
            return new KinetoTrace(path, stream, sink).read();
        } catch (AccessDeniedException e) {
            throw new RecordingException("opening '" + path + "': permission denied", null, e);
        } catch (IOException e) {
            throw new RecordingException("opening '" + path + "': damaged: " + e.getMessage(), "copy it again", e);
        }
    }

    private static InputStream open(Path path) throws IOException {
        BufferedInputStream stream = new BufferedInputStream(Files.newInputStream(path), 1 << 16);
        stream.mark(2);
        boolean gzip = isGzip(stream.readNBytes(2));
        stream.reset();
        return gzip ? new BufferedInputStream(new GZIPInputStream(stream, 1 << 16), 1 << 16) : stream;
    }

    private static boolean isGzip(byte[] start) {
        return start.length >= 2 && start[0] == 0x1f && start[1] == (byte) 0x8b;
    }

    private TraceHeader read() {
        String damage = null;
        try {
            root();
        } catch (JacksonException e) {
            if (events == 0) {
                throw new RecordingException(
                        "opening '" + path + "': not a profiler's trace: " + firstLine(e.getOriginalMessage()), null, e);
            }
            damage = readOn(e);
        }
        if (!hasEvents) {
            throw notATrace();
        }
        return new TraceHeader(base, rank, ranks, events, skipped, damage);
    }

    private void root() {
        switch (parser.nextToken()) {
            case START_OBJECT -> members();
            // Chrome's other form, which some who merge or filter traces write.
            case START_ARRAY -> {
                isArray = true;
                events();
            }
            case null, default -> throw notATrace();
        }
    }

    /// Reads what follows a damaged event, and the next one, until nothing begins another.
    ///
    /// @return where the trace ends early; null where it does not
    private @Nullable String readOn(JacksonException damage) {
        JacksonException last = damage;
        while (inEvents && toNextEvent()) {
            events += inEvent ? 0 : 1;
            inEvent = false;
            skip("damaged");
            try {
                root();
                return null;
            } catch (JacksonException e) {
                last = e;
            }
        }
        return "damaged after " + events + " events: " + firstLine(last.getOriginalMessage());
    }

    /// Has a new parser begin with the next line that begins an event, as if nothing were before it.
    private boolean toNextEvent() {
        ByteArrayOutputStream ahead = new ByteArrayOutputStream();
        parser.releaseBuffered(ahead);
        try {
            stream.unread(ahead.toByteArray());
            boolean begins = false;
            int next = stream.read();
            while (next >= 0 && !(begins && next == '{')) {
                begins = next == '\n' || (begins && Character.isWhitespace(next));
                next = stream.read();
            }
            if (next < 0) {
                return false;
            }
            stream.unread(next);
            stream.unread((isArray ? "[" : "{\"traceEvents\": [").getBytes(StandardCharsets.US_ASCII));
            parser = JSON.createParser(ObjectReadContext.empty(), stream);
            values = new KinetoValues(parser);
            return true;
        } catch (IOException _) {
            return false; // the file ends early
        }
    }

    private RecordingException notATrace() {
        return new RecordingException(
                "opening '" + path + "': not a profiler's trace: it has no traceEvents",
                "torch.profiler writes one with export_chrome_trace");
    }

    private static String firstLine(@Nullable String message) {
        return String.valueOf(message).lines().findFirst().orElse("no reason given");
    }

    private void members() {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            member(parser.currentName());
        }
    }

    private void member(String name) {
        JsonToken value = parser.nextToken();
        switch (name) {
            case "traceEvents" -> {
                if (value == JsonToken.START_ARRAY) {
                    events();
                } else {
                    parser.skipChildren();
                }
            }
            case "baseTimeNanoseconds" -> {
                Long nanos = values.integer();
                base = nanos != null && nanos >= 0 && nanos <= TracedEvent.LATEST_NANOS ? nanos : null;
            }
            case "distributedInfo" -> distributedInfo(value);
            default -> parser.skipChildren();
        }
    }

    private void distributedInfo(JsonToken value) {
        if (value != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String member = parser.currentName();
            parser.nextToken();
            switch (member) {
                case "rank" -> rank = values.integer();
                case "world_size" -> ranks = values.integer();
                default -> parser.skipChildren();
            }
        }
    }

    private void events() {
        hasEvents = true;
        inEvents = true;
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            events++;
            inEvent = true;
            if (token == JsonToken.START_OBJECT) {
                new KinetoEventReader(values, processes, sink, this::skip).read();
            } else {
                parser.skipChildren();
                skip("not an object");
            }
            inEvent = false;
        }
        inEvents = false;
    }

    private void skip(String reason) {
        skipped.merge(reason, 1L, Long::sum);
    }
}
