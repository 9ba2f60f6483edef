package io.dyber.zernel.format;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.ser.std.StdSerializer;

/// What a recording says about itself: the keys of the Parquet footer, as `bpf/README.md` describes them. The recorder
/// writes the records here, one for each key, as JSON, and readers read them: no member is named anywhere else in Java.
///
/// A key or member that an older or newer recorder did not write is empty, zero or `null`; unknown ones are ignored. A
/// member that is `null` is written as `null`, and not at all where it says [Include#NON_NULL].
public record Footer(
        About recording,
        @Nullable Clock clock,
        Schema schema,
        List<KindState> kinds,
        List<ProbeState> probes,
        Losses losses,
        List<ProcessInfo> processes) {
    /// The footer format that this version writes, and the newest that it reads.
    public static final int CURRENT_FORMAT = 1;

    public static final String FORMAT = "zernel.format";
    public static final String RECORDING = "zernel.recording";
    public static final String CLOCK = "zernel.clock";
    public static final String SCHEMA = "zernel.schema";
    public static final String KINDS = "zernel.kinds";
    public static final String PROBES = "zernel.probes";
    public static final String LIBRARIES = "zernel.libraries";
    public static final String LOSSES = "zernel.losses";
    public static final String PROCESSES = "zernel.processes";
    public static final String THREADS = "zernel.threads";
    public static final String KERNELS = "zernel.kernels";
    public static final String HOST = "zernel.host";
    public static final String OVERHEAD = "zernel.overhead";
    public static final String DETAIL = "zernel.detail";
    public static final String STACKS = "zernel.stacks";
    public static final String GPUS = "zernel.gpus";
    public static final String GPU_ACTIVITY = "zernel.gpu_activity";
    public static final String SIMULATION = "zernel.simulation";
    public static final String DIGEST = "zernel.digest";

    /// The kinds of which a step has calls by the thousand, which [#DETAIL] speaks of.
    public static final List<String> DETAIL_KINDS = List.of("cuda_launch", "torch_alloc", "torch_free");

    /// Parses the JSON values of the footer's keys.
    ///
    /// @throws RecordingException if a value is not the JSON that its key promises
    public static Footer parse(Map<String, String> metadata) {
        return new Footer(
                orElse(read(metadata, RECORDING, About.class), About.UNKNOWN),
                read(metadata, CLOCK, Clock.class),
                orElse(read(metadata, SCHEMA, Schema.class), new Schema(List.of(), List.of())),
                listOf(read(metadata, KINDS, KindState[].class)),
                listOf(read(metadata, PROBES, ProbeState[].class)),
                orElse(read(metadata, LOSSES, Losses.class), new Losses(List.of(), Map.of(), 0, null)),
                listOf(read(metadata, PROCESSES, ProcessInfo[].class)));
    }

    /// When detail was recorded, of a recording that holds it in windows only; it is asked each second.
    ///
    /// @throws RecordingException if the value is not the JSON that its key promises
    public static Optional<Detail> detail(Map<String, String> metadata) {
        return Optional.ofNullable(read(metadata, DETAIL, Detail.class)).filter(detail -> detail.windows() != null);
    }

    /// How the GPUs were sampled, and what they are; empty where they were not.
    ///
    /// @throws RecordingException if the value is not the JSON that its key promises
    public static Optional<GpuSampling> gpus(Map<String, String> metadata) {
        return Optional.ofNullable(read(metadata, GPUS, GpuSampling.class));
    }

    /// What a digest holds, by the JSON of [#DIGEST].
    ///
    /// @throws RecordingException if it is not the JSON that the key promises
    public static Digest digest(String json) {
        return orElse(read(Map.of(DIGEST, json), DIGEST, Digest.class), new Digest(0, "", List.of(), Map.of()));
    }

    /// Of a key the value, from one of the records here, a list of them, or a map.
    public static String json(Object value) {
        return FooterJson.MAPPER.writeValueAsString(value);
    }

    /// [#DIGEST]: what a file holds that has, instead of a recording's events, what was computed from them.
    ///
    /// @param format of digests, which rises when older readers cannot read them
    /// @param of file name of the recording
    /// @param parts views of the library and findings, each with its rows
    /// @param skipped findings that could not run, and why
    public record Digest(int format, String of, List<DigestPart> parts, Map<String, String> skipped) {
        /// The format that this version writes, and the newest that it reads.
        public static final int CURRENT_FORMAT = 1;

        public Digest {
            of = orElse(of, "");
            parts = orElse(parts, List.of());
            skipped = orElse(skipped, Map.of());
        }
    }

    /// Of [Digest], the rows in which the column `part` has this name.
    ///
    /// @param columns of the view, in order, each `name` where it is a BIGINT, else `name TYPE`, as DuckDB writes types
    public record DigestPart(String name, List<String> columns) {}

    /// [#RECORDING]: where, when and how it was recorded; times are nanoseconds since the epoch.
    public record About(
            @JsonUnwrapped Machine machine,
            boolean simulated,
            @JsonInclude(Include.NON_NULL) @Nullable Long recorderPid,
            @JsonSerialize(using = NullIfEmpty.class) List<String> command,
            @JsonInclude(Include.NON_NULL) @Nullable Integer arguments,
            @JsonInclude(Include.NON_NULL) @Nullable Boolean redacted,
            List<String> options,
            @JsonInclude(Include.NON_NULL) @Nullable String backend,
            long startedNs,
            long endedNs,
            @Nullable String stop,
            @JsonInclude(Include.NON_NULL) @Nullable Trigger trigger,
            boolean complete,
            List<String> incompleteBecause,
            long events,
            @JsonInclude(Include.NON_NULL) @Nullable Series series,
            @JsonInclude(Include.NON_NULL) @Nullable Cut cut) {
        /// What is known of a file without that key.
        static final About UNKNOWN = new About(
                Machine.UNKNOWN, false, null, List.of(), null, null, List.of(), null, 0, 0, null, null, false, List.of(),
                0, null, null);

        public About {
            machine = orElse(machine, Machine.UNKNOWN);
            command = orElse(command, List.of());
            options = orElse(options, List.of());
            incompleteBecause = orElse(incompleteBecause, List.of());
        }

        public @Nullable String version() {
            return machine.version();
        }

        public @Nullable String host() {
            return machine.host();
        }
    }

    /// Of [About], what wrote it and where.
    public record Machine(
            @Nullable String version, @Nullable String host, @Nullable String kernel, @Nullable String arch, int cpus) {
        static final Machine UNKNOWN = new Machine(null, null, null, null, 0);
    }

    /// Of [About], why a flight recorder wrote this file, and when that was.
    public record Trigger(String what, long tsNs) {}

    /// Of [About], which part of a series the file is.
    ///
    /// @param id the same in all files of one run
    /// @param startedNs when the run began
    public record Series(String id, int part, long startedNs) {}

    /// Of [About], of what recording the file is a part, and from when to when; only some kinds or processes where these
    /// are named.
    public record Cut(String of, long fromNs, long toNs, List<String> kinds, List<Long> pids) {
        public Cut {
            kinds = orElse(kinds, List.of());
            pids = orElse(pids, List.of());
        }
    }

    /// [#CLOCK]: how event times were turned into epoch time.
    ///
    /// @param wallStepNs by how much the time of day was set since the offset was taken
    /// @param asleepNs how long the machine was suspended since
    public record Clock(
            @Nullable String source,
            long offsetNs,
            long errorNs,
            @Nullable String bootId,
            @JsonInclude(Include.NON_NULL) @Nullable Long wallStepNs,
            @JsonInclude(Include.NON_NULL) @Nullable Long asleepNs) {}

    /// [#SCHEMA]: the columns of the file and which of them each kind has.
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

    /// Of [#KINDS], whether a kind was recorded: `attached`, `waiting`, `off` or `unavailable`, and why.
    ///
    /// @param filtered what was too short or small to be a row, of kinds that leave that out
    /// @param driver rows that are calls of CUDA's driver, of kinds that have them
    /// @param runtime rows that are calls of CUDA's runtime
    /// @param covered calls of the runtime that rows of calls inside them stand for
    public record KindState(
            @Nullable String kind,
            @Nullable String state,
            @Nullable String why,
            long events,
            @JsonInclude(Include.NON_NULL) @Nullable Long filtered,
            @JsonInclude(Include.NON_NULL) @Nullable Long driver,
            @JsonInclude(Include.NON_NULL) @Nullable Long runtime,
            @JsonInclude(Include.NON_NULL) @Nullable Long covered) {}

    /// Of [#PROBES], one probed function in one library file, with its exact counters.
    ///
    /// @param end how the end of a call is seen: `return`, `early` (before an exit), `exits` (a debug trap where the function is left) or `none`
    public record ProbeState(
            @Nullable String kind,
            @Nullable String layer,
            @Nullable String name,
            @Nullable String library,
            @Nullable String buildId,
            @Nullable String symbol,
            long site,
            @Nullable String cost,
            @JsonInclude(Include.NON_NULL) @Nullable String end,
            @Nullable String state,
            @Nullable String why,
            long entries,
            long returns,
            long events,
            long lost,
            long filtered,
            long sampledOut,
            long covered,
            long noReturn,
            long openBefore,
            long openAfter) {}

    /// Of [#LIBRARIES], a file with probed functions, and when it was loaded and probed.
    public record LibraryInfo(
            @Nullable String library,
            @Nullable String buildId,
            @Nullable String found,
            long attachedNs,
            @Nullable Long loadedNs,
            @Nullable Integer pid,
            long heldNs,
            long unseenNs) {}

    /// [#LOSSES]: events that happened and could not be stored.
    ///
    /// @param ends rows that have no duration because their end found the ring full
    public record Losses(
            List<RingUse> rings,
            Map<String, Long> byKind,
            long total,
            @JsonInclude(Include.NON_NULL) @Nullable Long ends) {
        public Losses {
            rings = orElse(rings, List.of());
            byKind = orElse(byKind, Map.of());
        }
    }

    /// One ring buffer's size and how full it got.
    public record RingUse(@Nullable String ring, long sizeBytes, long highWaterBytes) {}

    /// Of [#PROCESSES], one recorded process.
    ///
    /// @param cgroup its path, as the recorder sees it; null where it was not read
    /// @param nice the nice value of its main thread, 19 yields to all others; null for 0, and where it was not read
    public record ProcessInfo(
            long pid,
            long ppid,
            @Nullable String comm,
            @Nullable String exe,
            List<String> cmdline,
            @JsonInclude(Include.NON_NULL) @Nullable Integer arguments,
            @JsonInclude(Include.NON_NULL) @Nullable Boolean redacted,
            Map<String, String> environment,
            @JsonInclude(Include.NON_NULL) @Nullable String cgroup,
            @JsonInclude(Include.NON_NULL) @Nullable Integer nice,
            @Nullable Long startedNs,
            @JsonInclude(Include.NON_NULL) @Nullable Long exitedNs,
            @JsonInclude(Include.NON_NULL) @Nullable Long exitStatus) {
        public ProcessInfo {
            cmdline = orElse(cmdline, List.of());
            environment = orElse(environment, Map.of());
        }
    }

    /// Of [#KERNELS], the name of a GPU kernel that was found out after its first launches.
    public record KernelName(int pid, long func, String kernel) {}

    /// [#HOST]: how the host was sampled; `{}` where it was not.
    public record HostSampling(
            String why,
            long intervalNs,
            long rounds,
            long missedRounds,
            long cpuNs,
            long processesLeftOut,
            long linksLeftOut,
            long refused) {}

    /// [#GPUS]: how the GPUs were sampled; `{}` where they were not.
    public record GpuSampling(
            @Nullable String why,
            @Nullable String driver,
            long intervalNs,
            @JsonInclude(Include.NON_NULL) @Nullable Long rounds,
            long missedRounds,
            List<GpuInfo> devices) {
        public GpuSampling {
            devices = orElse(devices, List.of());
        }
    }

    /// One GPU.
    ///
    /// @param pci where it is on the PCI bus, as `nvidia-smi` writes it; null where the driver did not say
    /// @param pcieGeneration of its link to the host at its best; null where the driver did not say
    /// @param pcieWidth lanes of the link; null where the driver did not say
    /// @param lostNs when it stopped answering
    public record GpuInfo(
            int index,
            @Nullable String name,
            @Nullable String uuid,
            @JsonInclude(Include.NON_NULL) @Nullable String pci,
            @Nullable Long memoryTotal,
            @JsonInclude(Include.NON_NULL) @Nullable Integer pcieGeneration,
            @JsonInclude(Include.NON_NULL) @Nullable Integer pcieWidth,
            @Nullable Long lostNs,
            List<GpuGap> missing) {}

    /// A value that the driver did not give, and how often it was asked.
    public record GpuGap(String kind, String name, String why, long times) {}

    /// [#GPU_ACTIVITY]: how what ran on the GPUs was recorded; `{}` where it was not asked for.
    ///
    /// @param why nothing could be recorded
    public record GpuActivity(String why, List<ActivityProcess> processes) {
        public GpuActivity {
            processes = orElse(processes, List.of());
        }
    }

    /// A process that asked CUPTI.
    ///
    /// @param state `on`, `off`, `ended`, `killed`, `aside` (another profiler was there), `failed` or `broken`; `starting` before
    /// @param rows kernels, copies and fills that were recorded
    /// @param unlaunched of them, those whose launching call is not known
    /// @param lost that found the ring full
    /// @param lostCalls calls that did
    /// @param dropped by CUPTI
    /// @param untimed of which CUPTI did not know the time
    /// @param overheadNs what CUPTI says that it took
    /// @param errorNs by which their times may be off
    public record ActivityProcess(
            int pid,
            String library,
            int cupti,
            String state,
            String why,
            long rows,
            long unlaunched,
            long lost,
            long lostCalls,
            long dropped,
            long untimed,
            long overheadNs,
            long errorNs,
            List<ActivityWindow> windows) {
        public ActivityProcess {
            windows = orElse(windows, List.of());
        }

        /// The same with these windows.
        public ActivityProcess with(List<ActivityWindow> others) {
            return new ActivityProcess(
                    pid, library, cupti, state, why, rows, unlaunched, lost, lostCalls, dropped, untimed, overheadNs, errorNs, others);
        }
    }

    /// A time in which it was recorded: from its first activity to the end of the last.
    public record ActivityWindow(long startNs, long endNs, long activities) {}

    /// [#OVERHEAD]: what the probes on functions cost; null where that could not be measured, and `method` says why.
    ///
    /// @param costNsPerLeftHit of a function that is probed where it is left
    /// @param debugTrapNs what a call takes more for each instruction under a probe that the kernel single-steps; null also in files of
    ///     earlier builds, where functions were left by one
    /// @param recorderCpuNs how long the recorder's own process was on a CPU while it recorded, beside that; null where the system does
    ///     not tell
    /// @param systemCalls what those on system calls cost, beside that
    public record Overhead(
            @Nullable Double costNsPerHit,
            @Nullable Double costNsPerCountedHit,
            @Nullable Double costNsPerLeftHit,
            @Nullable Double costNsPerCountedLeftHit,
            @Nullable Double debugTrapNs,
            String method,
            long hits,
            long leftHits,
            long countedHits,
            @Nullable Long cpuNsTotal,
            @Nullable Double share,
            @Nullable Long recorderCpuNs,
            List<ProcessOverhead> processes,
            SystemCallOverhead systemCalls) {}

    /// What watching system calls costs the recorded threads; null where that could not be measured, and `method` says why.
    ///
    /// @param costNs of one that becomes an event
    /// @param skippedCostNs of one that is watched and does not become one
    /// @param otherCostNs of one that no kind has; how many there were, nobody knows
    /// @param hits all that were watched
    /// @param skipped of them, those that did not become events
    public record SystemCallOverhead(
            @Nullable Double costNs,
            @Nullable Double skippedCostNs,
            @Nullable Double otherCostNs,
            String method,
            long hits,
            long skipped) {}

    /// What they cost one process, as a share of one CPU.
    public record ProcessOverhead(int pid, long events, @Nullable Double share) {}

    /// [#DETAIL]: how much is recorded of calls that come by the thousand in a step.
    ///
    /// @param asked as the option says
    /// @param recorded what that came to: `all`, `windows`, `off`, `sample:N` or `count`
    /// @param budget share of a step by which detail may make it longer; null for none
    /// @param why it came to that, for people
    /// @param kinds that are detail
    /// @param windows when detail was recorded; null where that is all the time
    public record Detail(
            String asked,
            String recorded,
            @Nullable Double budget,
            @Nullable String why,
            List<String> kinds,
            @Nullable List<DetailWindow> windows) {
        public Detail {
            kinds = orElse(kinds, List.of());
        }
    }

    /// A time in which every call that is detail was recorded, from when all probes were there until the first was taken
    /// away.
    ///
    /// @param reason why then: `start`, `trial`, `turn` or `trigger`
    /// @param complete whether nothing of it was lost
    public record DetailWindow(long startNs, long endNs, String reason, boolean complete) {}

    /// [#STACKS]: of what stacks were taken, and what is missing of them.
    ///
    /// @param blockedNs events that blocked their thread for so long have a stack; 0 where none has
    /// @param samplesPerSecond how often each CPU was looked at; 0 for never
    /// @param budget stacks a second that each CPU could take
    /// @param overBudget that were not taken because there were more
    /// @param lost that are missing because their frames found the ring full
    /// @param unread that lack outer frames because Python's could not be read
    /// @param deeper that lack outer frames because they had more than are taken
    /// @param unnamed frames whose code could not be read, because it was gone
    public record Stacks(
            long blockedNs,
            int samplesPerSecond,
            long budget,
            long taken,
            long overBudget,
            long lost,
            long unread,
            long deeper,
            long unnamed,
            List<PythonInfo> pythons) {
        public Stacks {
            pythons = orElse(pythons, List.of());
        }
    }

    /// Of [Stacks], an interpreter that a recorded process runs.
    ///
    /// @param why its frames cannot be read
    /// @param runtimes where processes have its state, `_PyRuntime`, which holds the GIL, in their memory; empty where that is
    ///     not known
    public record PythonInfo(
            String file,
            @JsonInclude(Include.NON_NULL) @Nullable String version,
            @JsonInclude(Include.NON_NULL) @Nullable String why,
            @JsonInclude(Include.NON_EMPTY) List<PythonRuntime> runtimes) {
        public PythonInfo {
            runtimes = orElse(runtimes, List.of());
        }
    }

    /// Of [PythonInfo], the state of an interpreter in the memory of a process and of those forked from it.
    public record PythonRuntime(long address, long bytes) {}

    /// Writes an empty list as `null`.
    static final class NullIfEmpty extends StdSerializer<List<?>> {
        NullIfEmpty() {
            super(List.class);
        }

        @Override
        public void serialize(List<?> values, JsonGenerator out, SerializationContext context) throws JacksonException {
            if (values.isEmpty()) {
                out.writeNull();
            } else {
                out.writePOJO(values);
            }
        }
    }

    private static <T> T orElse(@Nullable T value, T other) {
        return value == null ? other : value;
    }

    private static <T> List<T> listOf(T @Nullable [] values) {
        return values == null ? List.of() : List.of(values);
    }

    private static <T> @Nullable T read(Map<String, String> metadata, String key, Class<T> type) {
        String value = metadata.get(key);
        if (value == null) {
            return null;
        }
        try {
            return FooterJson.MAPPER.readValue(value, type);
        } catch (JacksonException e) {
            throw new RecordingException(
                    "parsing footer key '" + key + "': " + e.getOriginalMessage(),
                    "the file was written by an incompatible version, or damaged",
                    e);
        }
    }
}
