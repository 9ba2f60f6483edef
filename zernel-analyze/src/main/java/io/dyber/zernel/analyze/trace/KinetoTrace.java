package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.format.RecordingException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PushbackInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/// A trace that PyTorch's profiler (Kineto) wrote, read event by event: its size does not matter.
///
/// Times are `ts`, microseconds with a fraction after `baseTimeNanoseconds`, which stands before or behind the events;
/// without it, since the epoch. What ran on the GPU has its GPU in place of a process and its stream in place of a thread.
/// An event that is no JSON, as with names in which PyTorch 2.0 left quotes as they were, is skipped up to the next one: a
/// line that begins an object, or an object behind another one whose first member is one of an event's. An array of events
/// needs no closing bracket, as Chrome has it.
public final class KinetoTrace {
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
            .enable(JsonReadFeature.ALLOW_BACKSLASH_ESCAPING_ANY_CHARACTER)
            .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
            .build();
    /// Bytes that may be read a second time: more than a parser reads ahead.
    private static final int MOST_AHEAD = 1 << 16;
    /// What an event begins with, which is read ahead.
    private static final Pattern FIRST_MEMBER = Pattern.compile("\\s*\"(ph|cat|name|pid|tid|ts|dur|args)\"\\s*:");
    private static final int FIRST_MEMBER_BYTES = 128;
    /// What Jackson says where a text ends too early.
    private static final String ENDS_EARLY = "Unexpected end-of-input";
    private static final String UTF_8_MARK = "\u00ef\u00bb\u00bf";

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
            String read = new String(start, StandardCharsets.ISO_8859_1);
            String text = (read.startsWith(UTF_8_MARK) ? read.substring(UTF_8_MARK.length()) : read).stripLeading();
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
        } catch (IOException | JacksonIOException e) {
            throw new RecordingException("opening '" + path + "': damaged: " + why(e.getMessage()), "copy it again", e);
        }
    }

    private static InputStream open(Path path) throws IOException {
        BufferedInputStream stream = new BufferedInputStream(Files.newInputStream(path), 1 << 16);
        stream.mark(2);
        boolean gzip = isGzip(stream.readNBytes(2));
        stream.reset();
        // Not buffered: what came before a damage would be lost with it.
        return gzip ? new GZIPInputStream(stream, 1 << 16) : stream;
    }

    private static boolean isGzip(byte[] start) {
        return start.length >= 2 && start[0] == 0x1f && start[1] == (byte) 0x8b;
    }

    private TraceHeader read() {
        String damage = null;
        try {
            root();
            damage = damageBehind();
        } catch (JacksonException e) {
            if (events == 0 && !isWholeArray(e)) {
                throw new RecordingException(
                        "opening '" + path + "': not a profiler's trace: " + why(e.getOriginalMessage()), null, e);
            }
            damage = readOn(e);
        }
        if (!hasEvents) {
            throw notATrace();
        }
        return new TraceHeader(base, rank, ranks, events, skipped, damage);
    }

    /// Whether an array has all but its closing bracket, without which writers that may be killed leave it.
    private boolean isWholeArray(JacksonException end) {
        return isArray && inEvents && !inEvent && firstLine(end.getOriginalMessage()).startsWith(ENDS_EARLY);
    }

    /// What is behind the JSON tells whether a compressed file is what was written: its checksum.
    private @Nullable String damageBehind() {
        try {
            stream.transferTo(OutputStream.nullOutputStream());
            return null;
        } catch (IOException e) {
            return "damaged after " + events + " events or before: " + why(e.getMessage());
        }
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
        while (inEvents && !isWholeArray(last) && toNextEvent()) {
            events += inEvent ? 0 : 1;
            inEvent = false;
            skip("damaged");
            try {
                root();
                return damageBehind();
            } catch (JacksonException e) {
                last = e;
            }
        }
        return isWholeArray(last) ? null : "damaged after " + events + " events: " + why(last.getOriginalMessage());
    }

    /// Has a new parser begin with the next event, as if nothing were before it.
    private boolean toNextEvent() {
        ByteArrayOutputStream ahead = new ByteArrayOutputStream();
        parser.releaseBuffered(ahead);
        try {
            stream.unread(ahead.toByteArray());
            boolean onLine = false; // nothing else is before it on its line
            int before = 0; // what is before it but for blanks; a comma is that behind an object
            int next = stream.read();
            while (next >= 0 && !(next == '{' && (onLine || (before == ',' && hasFirstMember())))) {
                onLine = next == '\n' || (onLine && Character.isWhitespace(next));
                if (!Character.isWhitespace(next)) {
                    before = next != ',' || before == '}' ? next : 0;
                }
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
        } catch (IOException | JacksonIOException _) {
            return false; // the file ends early
        }
    }

    /// Whether what follows a brace is a member that an event begins with.
    private boolean hasFirstMember() throws IOException {
        byte[] ahead = stream.readNBytes(FIRST_MEMBER_BYTES);
        stream.unread(ahead);
        return FIRST_MEMBER.matcher(new String(ahead, StandardCharsets.ISO_8859_1)).lookingAt();
    }

    private RecordingException notATrace() {
        return new RecordingException(
                "opening '" + path + "': not a profiler's trace: it has no traceEvents",
                "torch.profiler writes one with export_chrome_trace");
    }

    /// Why reading ended: in plain words where the file just ends, else in those of the library that read it.
    private static String why(@Nullable String message) {
        String line = message == null ? "" : firstLine(message);
        return line.isEmpty() || line.startsWith(ENDS_EARLY) || line.startsWith("Unexpected end of ZLIB") ? "it ends early" : line;
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
                Long nanos = values.whole();
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
