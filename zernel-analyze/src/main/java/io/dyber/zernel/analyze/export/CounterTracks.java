package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.Cursor;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/// What has a value over time: memory, outstanding collectives, and what the driver says about GPUs and the kernel
/// about the host.
///
/// @param tracks makes them
/// @param format takes them
record CounterTracks(Database database, Selection selection, Tracks tracks, TraceFormat format) {
    /// The kinds of events that are counters here and no slices.
    static final Set<String> SAMPLES = Set.of("gpu_sample", "gpu_process", "host_sample");

    private record Counter(int recording, long pid, String name) {}

    void write() throws IOException {
        write("'memory allocated' || coalesce(', GPU ' || device, '')", "'bytes'", "live_bytes", "at_ns", "device_memory");
        write("'memory of tensors' || coalesce(', GPU ' || device, '')", "'bytes'", "allocated_bytes", "at_ns", "torch_memory");
        write("'outstanding collectives, communicator ' || comm_id", "'collectives'", "outstanding", "at_ns", "outstanding_collectives");
        String samples = "(SELECT recording, CASE kind WHEN 'gpu_process' THEN pid END AS pid, device, object, name, unit, value, ts_ns "
                + "FROM events WHERE kind IN ('gpu_sample', 'gpu_process'))";
        write("'GPU ' || device || coalesce('/' || object, '') || ' ' || name", "unit", "value", "ts_ns", samples);
        write("coalesce(object || ' ', '') || name", "unit", "value", "at_ns", "host_curve");
    }

    private void write(String name, String unit, String value, String at, String view) throws IOException {
        String sql = "SELECT recording, pid, " + name + ", " + unit + ", " + selection.at(at) + ", " + value + " FROM " + view
                + " WHERE " + selection.during(at, at) + selection.ofProcesses() + " ORDER BY recording, pid, " + at;
        Map<Counter, Track> counters = new HashMap<>();
        try (Cursor cursor = database.stream(sql)) {
            while (cursor.next()) {
                Counter counter = new Counter(
                        (int) cursor.integer(0, 0), cursor.integer(1, 0), String.valueOf(cursor.text(2)));
                Track track = counters.get(counter);
                if (track == null) {
                    String label = cursor.text(3);
                    track = tracks.counter(
                            tracks.process(counter.recording(), counter.pid()), counter.name(), label == null ? "" : label);
                    counters.put(counter, track);
                }
                format.counter(track, cursor.integer(4, 0), (double) cursor.integer(5, 0));
            }
        }
    }
}
