package io.dyber.zernel.analyze;

import io.dyber.zernel.format.RecordingException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/// What a recording says about itself: the `zernel.*` keys of the Parquet footer, as `bpf/README.md` describes them.
///
/// A key or member that an older or newer recorder did not write is empty, zero or `null`; unknown ones are ignored.
public record Footer(
        About recording,
        @Nullable Clock clock,
        Schema schema,
        List<KindState> kinds,
        List<ProbeState> probes,
        Losses losses,
        List<ProcessInfo> processes) {

    /// Parses the JSON values of the footer's keys.
    ///
    /// @throws RecordingException if a value is not the JSON that its key promises
    public static Footer parse(Map<String, String> metadata) {
        Json json = new Json(metadata);
        return new Footer(
                orElse(json.read("zernel.recording", About.class), About.UNKNOWN),
                json.read("zernel.clock", Clock.class),
                orElse(json.read("zernel.schema", Schema.class), new Schema(List.of(), List.of())),
                listOf(json.read("zernel.kinds", KindState[].class)),
                listOf(json.read("zernel.probes", ProbeState[].class)),
                orElse(json.read("zernel.losses", Losses.class), new Losses(List.of(), Map.of(), 0)),
                listOf(json.read("zernel.processes", ProcessInfo[].class)));
    }

    /// Where, when and how it was recorded; times are nanoseconds since the epoch.
    public record About(
            @Nullable String version,
            boolean simulated,
            @Nullable String host,
            @Nullable String kernel,
            @Nullable String arch,
            int cpus,
            List<String> command,
            List<String> options,
            long startedNs,
            long endedNs,
            @Nullable String stop,
            boolean complete,
            List<String> incompleteBecause,
            long events,
            @Nullable Cut cut) {
        /// What is known of a file without that key.
        static final About UNKNOWN =
                new About(null, false, null, null, null, 0, List.of(), List.of(), 0, 0, null, false, List.of(), 0, null);

        public About {
            command = orElse(command, List.of());
            options = orElse(options, List.of());
            incompleteBecause = orElse(incompleteBecause, List.of());
        }
    }

    /// How event times were turned into epoch time.
    public record Clock(@Nullable String source, long offsetNs, long errorNs, @Nullable String bootId) {}

    /// The columns of the file and which of them each kind has.
    public record Schema(List<ColumnInfo> columns, List<KindInfo> kinds) {
        public Schema {
            columns = orElse(columns, List.of());
            kinds = orElse(kinds, List.of());
        }
    }

    /// One column; `unit` is `ns`, `bytes` or absent.
    public record ColumnInfo(
            @Nullable String name, @Nullable String type, @Nullable String unit, @Nullable String comment) {}

    /// One kind of event and its columns.
    public record KindInfo(@Nullable String kind, @Nullable String comment, List<String> columns) {
        public KindInfo {
            columns = orElse(columns, List.of());
        }
    }

    /// Whether a kind was recorded: `attached`, `waiting`, `off` or `unavailable`, and why.
    public record KindState(@Nullable String kind, @Nullable String state, @Nullable String why, long events) {}

    /// One probed function in one library file, with its exact counters.
    public record ProbeState(
            @Nullable String kind,
            @Nullable String name,
            @Nullable String library,
            @Nullable String buildId,
            @Nullable String symbol,
            @Nullable String site,
            @Nullable String cost,
            @Nullable String state,
            @Nullable String why,
            long entries,
            long returns,
            long events,
            long lost,
            long filtered,
            long noReturn) {}

    /// Of what recording it is a part, and from when to when; only some kinds or processes where these are named.
    public record Cut(String of, long fromNs, long toNs, List<String> kinds, List<Long> pids) {
        public Cut {
            kinds = orElse(kinds, List.of());
            pids = orElse(pids, List.of());
        }
    }

    /// Events that happened and could not be stored.
    public record Losses(List<RingUse> rings, Map<String, Long> byKind, long total) {
        public Losses {
            rings = orElse(rings, List.of());
            byKind = orElse(byKind, Map.of());
        }
    }

    /// One ring buffer's size and how full it got.
    public record RingUse(@Nullable String ring, long sizeBytes, long highWaterBytes) {}

    /// One recorded process.
    public record ProcessInfo(
            long pid,
            long ppid,
            @Nullable String comm,
            @Nullable String exe,
            List<String> cmdline,
            @Nullable Long startedNs,
            @Nullable Long exitedNs,
            @Nullable Long exitStatus) {
        public ProcessInfo {
            cmdline = orElse(cmdline, List.of());
        }
    }

    private static <T> T orElse(@Nullable T value, T other) {
        return value == null ? other : value;
    }

    private static <T> List<T> listOf(T @Nullable [] values) {
        return values == null ? List.of() : List.of(values);
    }

    private record Json(Map<String, String> metadata, JsonMapper mapper) {
        Json(Map<String, String> metadata) {
            this(
                    metadata,
                    JsonMapper.builder()
                            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                            .build());
        }

        <T> @Nullable T read(String key, Class<T> type) {
            String value = metadata.get(key);
            if (value == null) {
                return null;
            }
            try {
                return mapper.readValue(value, type);
            } catch (JacksonException e) {
                throw new RecordingException(
                        "parsing footer key '" + key + "': " + e.getOriginalMessage(),
                        "the file was written by an incompatible version, or damaged",
                        e);
            }
        }
    }
}
