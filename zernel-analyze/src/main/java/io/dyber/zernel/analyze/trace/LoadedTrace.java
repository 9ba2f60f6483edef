package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.format.RecordingException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A trace whose events are in tables.
///
/// @param table what the names of its tables begin with, see [TraceTables]
/// @param process the process that it is of: the one with most events; null if none has any
/// @param processes events on the CPU by process
/// @param activities what ran on GPUs
/// @param calls calls of CUDA
/// @param functions functions of Python that the profiler followed
public record LoadedTrace(
        Path path,
        String table,
        TraceHeader header,
        @Nullable Long process,
        Map<Long, Long> processes,
        long activities,
        long calls,
        long functions) {
    private static final JsonMapper JSON = JsonMapper.shared();

    /// Reads a trace. Several may be read at a time.
    ///
    /// @param index its number among what is opened
    /// @param wantsSpans whether ranges and operators of the CPU are read too
    /// @throws RecordingException if it is no trace, or another profiler's
    public static LoadedTrace load(Path path, int index, boolean wantsSpans, DuckDb duckDb) {
        String table = "gpu_trace_" + index;
        try (TraceTables tables = TraceTables.in(duckDb, table, wantsSpans)) {
            TraceHeader header =
                    NsysTrace.isOne(path) ? NsysTrace.read(path, tables, duckDb) : KinetoTrace.read(path, tables);
            boolean isEmpty = tables.process() == null && tables.activityCount() == 0;
            if (isEmpty && header.skipped().containsKey(KinetoEventReader.WITHOUT_CATEGORY)) {
                throw new RecordingException(
                        "opening '" + path + "': its events have no category, as those of JAX and TensorFlow; only PyTorch's can be read",
                        "of any framework, a profile of Nsight Systems can: nsys export --type sqlite profile.nsys-rep");
            }
            return new LoadedTrace(
                    path,
                    table,
                    header,
                    tables.process(),
                    tables.eventsByProcess(),
                    tables.activityCount(),
                    tables.callCount(),
                    tables.functionCount());
        }
    }

    /// What the view `gpu_traces` says of it.
    ///
    /// @param pid the process that it is of
    ObjectNode about(@Nullable Long pid) {
        Map<String, Long> skipped = new LinkedHashMap<>(header.skipped());
        if (header.damage() != null) {
            skipped.put("the file is " + header.damage(), 1L);
        }
        ObjectNode about = JSON.createObjectNode();
        about.put("path", path.toString());
        about.put("pid", pid);
        about.put("rank", header.rank());
        about.put("activities", activities);
        about.put("calls", calls);
        about.put("functions", functions);
        about.put("skipped", skipped.values().stream().mapToLong(Long::longValue).sum());
        about.set("skipped_because", JSON.valueToTree(skipped));
        return about;
    }
}
