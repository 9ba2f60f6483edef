package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.Cursor;
import io.dyber.zernel.format.Visible;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/// Folded stacks of host time for flame graphs: process, thread and frames, the outermost first, then the nanoseconds
/// spent there.
///
/// Frames are those of the recorded stacks. Of a recording without stacks they are the calls that were open, and the
/// time is that of the last call itself: only what a thread does counts, neither what overlaps its calls, such as reads
/// through io_uring, nor spans that stand for many calls. Memory grows with the different stacks, not with the events.
public final class FoldedStacks implements TraceFormat {
    private final OutputStream out;
    private final Map<Track, Deque<Frame>> open = new HashMap<>();
    private final Map<String, Long> nanos = new TreeMap<>();

    /// @param out closed with this
    public FoldedStacks(OutputStream out) {
        this.out = out;
    }

    /// Writes the recorded stacks of selected events, or what threads called where there are none, and returns how many
    /// events that are.
    public static long write(Database database, Selection selection, FoldedStacks format, LongConsumer progress)
            throws IOException {
        return database.hasStacks()
                ? format.writeRecorded(database, selection)
                : Trace.writeCalls(database, selection, format, progress);
    }

    private long writeRecorded(Database database, Selection selection) throws IOException {
        Tracks tracks = new Tracks(database, this);
        Map<ThreadKey, String> roots = new HashMap<>();
        long events = 0;
        String sql =
                """
                SELECT recording, pid, tid, stack, CAST(sum(ns) AS BIGINT), count(*)
                FROM stack_events
                JOIN _stack_texts USING (id)
                WHERE ns > 0 AND %s
                GROUP BY ALL
                """
                        .formatted(selection.where("start_ns", "end_ns"));
        try (Cursor rows = database.stream(sql)) {
            while (rows.next()) {
                ThreadKey thread = new ThreadKey((int) rows.integer(0, 0), rows.integer(1, 0), rows.integer(2, 0));
                String root = roots.get(thread);
                if (root == null) {
                    root = root(tracks.thread(thread.recording(), thread.pid(), thread.tid(), 0));
                    roots.put(thread, root);
                }
                nanos.merge(root + ";" + rows.text(3), rows.integer(4, 0), Long::sum);
                events += rows.integer(5, 0);
            }
        }
        return events;
    }

    private static final class Frame {
        private final String stack;
        private final long start;
        private long inner;

        Frame(String stack, long start) {
            this.stack = stack;
            this.start = start;
        }
    }

    @Override
    public void track(Track track) {
        if (track.type() == Track.Type.THREAD) {
            open.put(track, new ArrayDeque<>());
        }
    }

    @Override
    public void begin(Track track, Slice slice) {
        Deque<Frame> frames = open.get(track);
        if (frames == null || slice.isInstant()) {
            return;
        }
        Frame around = frames.peek();
        String stack = around == null ? root(track) : around.stack;
        frames.push(new Frame(isOneCall(slice) ? stack + ";" + frame(slice.name()) : stack, slice.start()));
    }

    @Override
    public void end(Track track, long at) {
        Deque<Frame> frames = open.get(track);
        if (frames == null) {
            return;
        }
        Frame ended = frames.pop();
        nanos.merge(ended.stack, at - ended.start - ended.inner, Long::sum);
        Frame around = frames.peek();
        if (around != null) {
            around.inner += at - ended.start;
        }
    }

    @Override
    public void counter(Track track, long at, double value) {}

    @Override
    public void close() throws IOException {
        try (BufferedWriter lines = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8))) {
            for (Map.Entry<String, Long> entry : nanos.entrySet()) {
                if (entry.getValue() > 0) {
                    lines.write(Visible.of(entry.getKey()) + " " + entry.getValue() + "\n");
                }
            }
        }
    }

    private static String root(Track track) {
        Track process = track.parent();
        String name = process == null ? "" : frame(process.name() + " (" + process.pid() + ")") + ";";
        return name + frame(track.name() + " (" + track.tid() + ")");
    }

    private static boolean isOneCall(Slice slice) {
        return !slice.arguments().containsKey("count") || slice.category().equals("nccl");
    }

    /// `;` separates frames and a line ends the stack.
    private static String frame(String name) {
        return name.replace(';', ',').replaceAll("[\\r\\n]+", " ");
    }
}
