package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.AttachedRecording;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// A trace that is opened without a recording, as a recording of its own: what it holds, and what it cannot.
///
/// Its events are those of [TraceEvents]. It has no clock but its own, no counters, and no losses that anybody knows of.
public final class TraceRecording {
    /// Kinds that a trace may hold. Where it has none of them, nothing of the kind happened.
    private static final List<String> HELD = List.of(
            "region", "backward", "torch_op", "nccl", "cuda_launch", "cuda_graph", "cuda_copy", "cuda_sync", "gpu_alloc",
            "gpu_free", "gpu_kernel", "gpu_memcpy", "gpu_memset");
    /// Kinds that only a recording may hold.
    private static final List<String> NOT_HELD = List.of(
            "process", "io", "io_open", "wait", "sched", "sample", "gc", "dist_wait", "torch_alloc", "torch_free",
            "gpu_sample", "gpu_process", "host_sample");
    private static final JsonMapper JSON = JsonMapper.shared();

    private TraceRecording() {}

    /// Makes it one.
    ///
    /// @param index its number among what is opened
    /// @throws RecordingException if nothing in it tells what a program or a GPU did
    public static AttachedRecording of(LoadedTrace trace, int index, DuckDb duckDb) {
        TraceHeader header = trace.header();
        long base = header.base() == null ? 0 : header.base();
        Long process = trace.process();
        if (process == null && trace.activities() == 0) {
            throw new RecordingException(
                    "opening '" + trace.path() + "': nothing in it ran on a CPU or a GPU",
                    "torch.profiler.profile(activities=[CPU, CUDA]) records both");
        }
        // What ran on GPUs belongs to a process; where none is named, it is one that is no process's number.
        long pid = process == null ? 0 : process;
        TraceEvents.create(trace.table(), base, pid, trace.processes().size() > 1, duckDb);
        AttachedRecording.Relation events = AttachedRecording.Relation.of(trace.table() + "_events", duckDb);
        Map<String, String> metadata = metadata(trace, pid, duckDb);
        long rows = duckDb.query("SELECT count(*) AS n FROM " + trace.table() + "_events").only().integer("n");
        Recording recording =
                new Recording(index, trace.path(), Recording.State.TRACE, rows, metadata, header.damage());
        return new AttachedRecording(recording, List.of(events));
    }

    private static Map<String, String> metadata(LoadedTrace trace, long pid, DuckDb duckDb) {
        String events = trace.table() + "_events";
        Table.Row span = duckDb.query("SELECT min(ts_ns) AS first_ns, max(ts_ns + dur_ns) AS last_ns FROM " + events).only();
        Map<String, String> metadata = new LinkedHashMap<>();
        TraceHeader header = trace.header();
        ObjectNode about = JSON.createObjectNode();
        about.put("started_ns", span.integer("first_ns"));
        about.put("ended_ns", span.integer("last_ns"));
        List<String> missing = missing(header);
        about.put("complete", missing.isEmpty());
        about.set("incomplete_because", JSON.valueToTree(missing));
        if (trace.processes().size() == 1) {
            about.putObject("series").put("id", "traces of process " + pid + ", rank " + header.rank());
        }
        metadata.put(Footer.RECORDING, about.toString());
        metadata.put(Footer.KINDS, kinds(events, duckDb));
        metadata.put(Footer.PROCESSES, processes(trace, pid));
        metadata.put(AttachedRecording.GPU_TRACES, gpus(trace, pid, events, duckDb).toString());
        return metadata;
    }

    /// What was in the program and is not in the recording. Events without a category are not PyTorch's.
    private static List<String> missing(TraceHeader header) {
        List<String> missing = new ArrayList<>();
        if (header.damage() != null) {
            missing.add(header.damage());
        }
        header.skipped().forEach((reason, n) -> {
            if (!reason.equals(KinetoEventReader.WITHOUT_CATEGORY)) {
                missing.add(n + (n == 1 ? " event was" : " events were") + " skipped: " + reason);
            }
        });
        return missing;
    }

    /// The trace once for each process with activities, which the views look for by process.
    private static ArrayNode gpus(LoadedTrace trace, long pid, String events, DuckDb duckDb) {
        ArrayNode traces = JSON.createArrayNode();
        Table owners = duckDb.query(
                """
                SELECT pid, count(*) AS n, (min(min(ts_ns)) OVER ()) AS first_ns, (max(max(ts_ns + dur_ns)) OVER ()) AS last_ns
                FROM %s
                WHERE kind IN ('gpu_kernel', 'gpu_memcpy', 'gpu_memset')
                GROUP BY pid
                ORDER BY pid
                """
                        .formatted(events));
        for (Table.Row owner : owners.rows()) {
            ObjectNode about = trace.about(owner.integer("pid"));
            about.put("activities", owner.integer("n"));
            about.put("started_ns", owner.integer("first_ns"));
            about.put("ended_ns", owner.integer("last_ns"));
            about.put("clock", "its own");
            about.put("shift_ns", 0);
            about.put("error_ns", 0);
            traces.add(about);
        }
        return traces.isEmpty() ? traces.add(trace.about(pid)) : traces;
    }

    private static String kinds(String events, DuckDb duckDb) {
        Map<String, Long> counts = new TreeMap<>();
        duckDb.query("SELECT kind, count(*) AS n FROM " + events + " GROUP BY kind")
                .rows()
                .forEach(row -> counts.put(row.requiredText("kind"), row.integer("n")));
        HELD.forEach(kind -> counts.putIfAbsent(kind, 0L));
        List<Map<String, Object>> states = new ArrayList<>();
        counts.forEach((kind, n) -> states.add(Map.of("kind", kind, "state", "attached", "events", n)));
        NOT_HELD.forEach(kind -> states.add(Map.of("kind", kind, "state", "off", "why", "a trace has none", "events", 0)));
        return Footer.json(states);
    }

    private static String processes(LoadedTrace trace, long pid) {
        List<Map<String, Object>> processes = new ArrayList<>();
        for (Long one : trace.processes().isEmpty() ? List.of(pid) : trace.processes().keySet()) {
            Map<String, String> environment = new TreeMap<>();
            if (trace.processes().size() < 2 && trace.header().rank() != null) {
                environment.put("RANK", trace.header().rank().toString());
            }
            if (trace.header().ranks() != null) {
                environment.put("WORLD_SIZE", trace.header().ranks().toString());
            }
            processes.add(Map.of("pid", one, "environment", environment));
        }
        return Footer.json(processes);
    }
}
