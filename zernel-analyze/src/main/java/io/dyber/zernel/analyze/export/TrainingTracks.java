package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.Cursor;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The steps and phases of training threads, on tracks above the threads.
///
/// @param tracks makes them
/// @param format takes them
record TrainingTracks(Database database, Selection selection, Tracks tracks, TraceFormat format) {
    private static final int STEPS_ORDER = -2;
    private static final int PHASES_ORDER = -1;
    private static final List<String> PARTS =
            List.of("data_loading_ns", "gpu_compute_ns", "nccl_collective_ns", "optimizer_step_ns", "unknown_ns");

    void write() throws IOException {
        String parts = String.join(", ", PARTS);
        write("steps", STEPS_ORDER, "'step ' || step", ", " + parts, PARTS, "steps");
        write("phases", PHASES_ORDER, "phase", "", List.of(), "phase_spans");
    }

    private void write(String what, int order, String name, String columns, List<String> arguments, String view)
            throws IOException {
        String sql = "SELECT recording, pid, tid, " + selection.at("start_ns") + ", dur_ns, " + name + columns + " FROM " + view + " WHERE "
                + selection.during("start_ns", "start_ns + dur_ns") + selection.ofProcesses()
                + " ORDER BY recording, pid, tid, start_ns";
        Map<ThreadKey, Lanes> threads = new HashMap<>();
        try (Cursor cursor = database.stream(sql)) {
            while (cursor.next()) {
                ThreadKey thread = new ThreadKey((int) cursor.integer(0, 0), cursor.integer(1, 0), cursor.integer(2, 0));
                Map<String, Object> values = new LinkedHashMap<>();
                for (int i = 0; i < arguments.size(); i++) {
                    values.put(arguments.get(i), cursor.integer(6 + i, 0));
                }
                Slice slice = new Slice(
                        what, String.valueOf(cursor.text(5)), cursor.integer(3, 0), cursor.integer(4, 0), values, null);
                threads.computeIfAbsent(thread, _ -> new Lanes(_ -> track(thread, what, order), format)).add(slice);
            }
        }
        for (Lanes lanes : threads.values()) {
            lanes.end();
        }
    }

    private Track track(ThreadKey thread, String what, int order) throws IOException {
        String name = thread.tid() == thread.pid() ? what : what + " of " + thread.tid();
        return tracks.slices(tracks.process(thread.recording(), thread.pid()), name, order);
    }
}
