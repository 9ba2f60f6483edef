package io.dyber.zernel.analyze.export;

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

/// Folded stacks of host time for flame graphs: process, thread and open calls, then the microseconds spent in the last
/// call itself.
///
/// Only what a thread does counts: neither what overlaps its calls, such as reads through io_uring, nor spans that
/// stand for many calls. Memory grows with the different stacks, not with the events.
public final class FoldedStacks implements TraceFormat {
    private final OutputStream out;
    private final Map<Track, Deque<Frame>> open = new HashMap<>();
    private final Map<String, Long> nanos = new TreeMap<>();

    /// @param out closed with this
    public FoldedStacks(OutputStream out) {
        this.out = out;
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
                long micros = Math.round(entry.getValue() / 1e3);
                if (micros > 0) {
                    lines.write(entry.getKey() + " " + micros + "\n");
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
