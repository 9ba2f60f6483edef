package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;

/// A recording as tracks: its processes with their threads, steps, phases and counters, and its GPUs.
public final class Trace {
    private static final int PROGRESS_EVENTS = 1 << 16;
    private static final Set<String> ON_GPU = Set.of("gpu_kernel", "gpu_memcpy", "gpu_memset");
    /// Below the threads of a process.
    private static final int STREAMS_ORDER = 1 << 30;

    private final Database database;
    private final Selection selection;
    private final Tracks tracks;
    private final TraceFormat format;
    private final Map<ThreadKey, Lanes> threads = new HashMap<>();
    private final Map<StreamKey, Lanes> streams = new HashMap<>();
    private long events;

    private Trace(Database database, Selection selection, TraceFormat format) {
        this.database = database;
        this.selection = selection;
        this.tracks = new Tracks(database, format);
        this.format = format;
    }

    /// Writes a trace and returns how many events it has; steps, phases and counters come in addition.
    ///
    /// @param format not closed here
    /// @param progress is told now and then how many events are written
    public static long write(Database database, Selection selection, TraceFormat format, LongConsumer progress)
            throws IOException {
        Trace trace = new Trace(database, selection, format);
        new TrainingTracks(database, selection, trace.tracks, format).write();
        new CounterTracks(database, selection, trace.tracks, format).write();
        trace.events(progress);
        return trace.events;
    }

    /// Writes only what the threads did, and returns how many events that are.
    public static long writeCalls(Database database, Selection selection, TraceFormat format, LongConsumer progress)
            throws IOException {
        Trace trace = new Trace(database, selection, format);
        trace.events(progress);
        return trace.events;
    }

    private void events(LongConsumer progress) throws IOException {
        new EventWindows(database, selection, EventWindows.EVENTS_PER_WINDOW).forEach((recording, pid, tid, slice) -> {
            if (++events % PROGRESS_EVENTS == 0) {
                progress.accept(events);
            }
            if (ON_GPU.contains(slice.category())) {
                stream(recording, pid, slice).add(slice);
            } else if (!CounterTracks.SAMPLES.contains(slice.category())) {
                lanes(new ThreadKey(recording, pid, tid)).add(slice);
            }
        });
        for (Lanes lanes : threads.values()) {
            lanes.end();
        }
        for (Lanes lanes : streams.values()) {
            lanes.end();
        }
    }

    private record StreamKey(int recording, long pid, String name) {}

    /// The stream of a GPU in which a slice ran.
    private Lanes stream(int recording, long pid, Slice slice) {
        String name = "GPU " + slice.arguments().get("device") + " stream " + slice.arguments().get("stream");
        return streams.computeIfAbsent(
                new StreamKey(recording, pid, name),
                _ -> new Lanes(
                        lane -> tracks.slices(
                                tracks.process(recording, pid), name + (lane == 0 ? "" : " overlapping"), STREAMS_ORDER),
                        format));
    }

    private Lanes lanes(ThreadKey thread) {
        return threads.computeIfAbsent(
                thread,
                _ -> new Lanes(lane -> tracks.thread(thread.recording(), thread.pid(), thread.tid(), lane), format));
    }
}
