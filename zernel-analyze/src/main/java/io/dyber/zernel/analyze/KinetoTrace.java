package io.dyber.zernel.analyze;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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
final class KinetoTrace {
    /// Nothing is believed to last longer: eleven days.
    private static final long LONGEST_NANOS = 1_000_000_000_000_000L;
    /// Nothing is believed to be later: the year 2096.
    private static final long LATEST_NANOS = 4_000_000_000_000_000_000L;

    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
            .enable(JsonReadFeature.ALLOW_BACKSLASH_ESCAPING_ANY_CHARACTER)
            .build();

    /// What an event is, by its `cat`; those of 2021 and before were written otherwise.
    enum Category {
        KERNEL,
        COPY,
        FILL,
        /// A call of the CUDA runtime or driver.
        CALL,
        /// Other work of the CPU, which says only whose trace it is.
        HOST;

        static @Nullable Category of(@Nullable String cat) {
            return switch (cat == null ? "" : cat.toLowerCase(Locale.ROOT)) {
                case "kernel" -> KERNEL;
                case "gpu_memcpy", "memcpy" -> COPY;
                case "gpu_memset", "memset" -> FILL;
                case "cuda_runtime", "cuda_driver", "runtime" -> CALL;
                case "cpu_op", "user_annotation", "operator" -> HOST;
                default -> null;
            };
        }

        boolean isOnGpu() {
            return this == KERNEL || this == COPY || this == FILL;
        }
    }

    /// An event; times are nanoseconds without the base.
    ///
    /// @param owner process, or GPU
    /// @param lane thread, or stream
    /// @param size grid x, y, z, block x, y, z of a kernel, if known
    record Event(
            Category category,
            String name,
            long start,
            long duration,
            @Nullable Long owner,
            @Nullable Long lane,
            @Nullable Long correlation,
            @Nullable Long bytes,
            List<@Nullable Long> size) {}

    interface Sink {
        void accept(Event event);
    }

    /// What the trace says about itself.
    ///
    /// @param base nanoseconds since the epoch that are added to all times; null when it is not said
    /// @param rank of the process in its job, if it is said
    /// @param events of any kind
    /// @param skipped events that could not be used, by reason
    record Header(@Nullable Long base, @Nullable Long rank, long events, Map<String, Long> skipped) {}

    private final Path path;
    private final JsonParser parser;
    private final Sink sink;
    private final Map<String, Long> skipped = new LinkedHashMap<>();
    private @Nullable Long base;
    private @Nullable Long rank;
    private long events;
    private boolean hasEvents;

    private KinetoTrace(Path path, JsonParser parser, Sink sink) {
        this.path = path;
        this.parser = parser;
        this.sink = sink;
    }

    /// Whether a file is JSON, compressed or not, by its first bytes.
    static boolean isOne(Path file) {
        if (!Files.isRegularFile(file)) {
            return false; // opening a pipe would wait for its other end
        }
        try (InputStream stream = Files.newInputStream(file)) {
            byte[] start = stream.readNBytes(256);
            String text = new String(start, StandardCharsets.ISO_8859_1).stripLeading();
            return text.startsWith("{") || isGzip(start);
        } catch (IOException _) {
            return false; // whoever opens it says why
        }
    }

    /// Hands the events that matter to `sink`.
    ///
    /// @throws RecordingException if it is no such trace, or damaged
    static Header read(Path path, Sink sink) {
        try (InputStream stream = open(path);
                JsonParser parser = JSON.createParser(ObjectReadContext.empty(), stream)) {
            return new KinetoTrace(path, parser, sink).read();
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
        return gzip ? new GZIPInputStream(stream, 1 << 16) : stream;
    }

    private static boolean isGzip(byte[] start) {
        return start.length >= 2 && start[0] == 0x1f && start[1] == (byte) 0x8b;
    }

    private Header read() {
        try {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw notATrace();
            }
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                member(parser.currentName());
            }
        } catch (JacksonException e) {
            String where = hasEvents ? "damaged after " + events + " events: " : "not a profiler's trace: ";
            throw new RecordingException(
                    "opening '" + path + "': " + where + firstLine(e.getOriginalMessage()),
                    hasEvents ? "copy it again from where it was written" : null,
                    e);
        }
        if (!hasEvents) {
            throw notATrace();
        }
        return new Header(base, rank, events, skipped);
    }

    private RecordingException notATrace() {
        return new RecordingException(
                "opening '" + path + "': not a profiler's trace: it has no traceEvents",
                "torch.profiler writes one with export_chrome_trace");
    }

    private static String firstLine(@Nullable String message) {
        return String.valueOf(message).lines().findFirst().orElse("no reason given");
    }

    private void member(String name) {
        JsonToken value = parser.nextToken();
        switch (name) {
            case "traceEvents" -> {
                hasEvents |= value == JsonToken.START_ARRAY;
                if (value == JsonToken.START_ARRAY) {
                    events();
                } else {
                    parser.skipChildren();
                }
            }
            case "baseTimeNanoseconds" -> {
                Long nanos = integer();
                base = nanos != null && nanos >= 0 && nanos <= LATEST_NANOS ? nanos : null;
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
            boolean isRank = parser.currentName().equals("rank");
            parser.nextToken();
            if (isRank) {
                rank = integer();
            } else {
                parser.skipChildren();
            }
        }
    }

    private void events() {
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            events++;
            if (token == JsonToken.START_OBJECT) {
                new EventReader().read();
            } else {
                parser.skipChildren();
                skip("not an object");
            }
        }
    }

    private void skip(String reason) {
        skipped.merge(reason, 1L, Long::sum);
    }

    /// The members of one event, in whatever order they come.
    private final class EventReader {
        private @Nullable String phase;
        private @Nullable String category;
        private @Nullable String name;
        private @Nullable Long start;
        private @Nullable Long duration;
        private @Nullable Long owner;
        private @Nullable Long lane;
        private @Nullable Long device;
        private @Nullable Long stream;
        private @Nullable Long correlation;
        private @Nullable Long bytes;
        private final @Nullable Long[] size = new @Nullable Long[6];

        void read() {
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String member = parser.currentName();
                JsonToken value = parser.nextToken();
                switch (member) {
                    case "ph" -> phase = text();
                    case "cat" -> category = text();
                    case "name" -> name = text();
                    case "ts" -> start = nanos();
                    case "dur" -> duration = nanos();
                    case "pid" -> owner = integer();
                    case "tid" -> lane = integer();
                    case "args" -> arguments(value);
                    default -> parser.skipChildren();
                }
            }
            Category known = "X".equals(phase) ? Category.of(category) : null;
            if (known != null) {
                emit(known);
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
                    case "device" -> device = integer();
                    case "stream" -> stream = integer();
                    case "correlation" -> correlation = integer();
                    case "bytes" -> bytes = integer();
                    case "grid" -> dimensions(0);
                    case "block" -> dimensions(3);
                    default -> parser.skipChildren();
                }
            }
        }

        private void dimensions(int first) {
            if (parser.currentToken() != JsonToken.START_ARRAY) {
                parser.skipChildren();
                return;
            }
            for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
                Long value = integer();
                if (i < 3) {
                    size[first + i] = value;
                }
            }
        }

        private void emit(Category known) {
            if (known.isOnGpu()) {
                owner = device == null ? owner : device;
                lane = stream == null ? lane : stream;
            }
            if (name == null) {
                skip(what(known) + " without a name");
            } else if (start == null || start > LATEST_NANOS) {
                skip(what(known) + " without a time");
            } else if (duration == null || duration > LONGEST_NANOS) {
                skip(what(known) + " without a duration");
            } else if (known.isOnGpu() && owner == null) {
                skip(what(known) + " without a device");
            } else {
                sink.accept(new Event(known, name, start, duration, owner, lane, correlation, bytes, Arrays.asList(size)));
            }
        }

        private static String what(Category category) {
            return switch (category) {
                case KERNEL -> "kernel";
                case COPY -> "copy";
                case FILL -> "fill";
                case CALL, HOST -> "call";
            };
        }
    }

    private @Nullable String text() {
        if (parser.currentToken() == JsonToken.VALUE_STRING) {
            return parser.getString();
        }
        parser.skipChildren();
        return null;
    }

    private @Nullable Long integer() {
        boolean fits = parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
        if (fits) {
            return parser.getLongValue();
        }
        parser.skipChildren();
        return null;
    }

    /// Microseconds, exact to the nanosecond: as doubles they would be rounded.
    private @Nullable Long nanos() {
        JsonToken token = parser.currentToken();
        if (token != JsonToken.VALUE_NUMBER_INT && token != JsonToken.VALUE_NUMBER_FLOAT) {
            parser.skipChildren();
            return null;
        }
        try {
            BigDecimal micros = new BigDecimal(parser.getString());
            int digits = micros.precision() - micros.scale();
            if (micros.signum() < 0 || digits > 18) {
                return null;
            }
            // What is far below a nanosecond has an exponent that would take for ever to get rid of.
            return digits < -3 ? 0 : micros.movePointRight(3).setScale(0, RoundingMode.HALF_EVEN).longValueExact();
        } catch (ArithmeticException | NumberFormatException _) {
            return null; // too large, or NaN
        }
    }
}
