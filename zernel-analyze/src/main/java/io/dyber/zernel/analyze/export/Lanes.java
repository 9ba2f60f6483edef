package io.dyber.zernel.analyze.export;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Places the slices of one thread on tracks so that those of a track are properly nested.
///
/// Calls of a thread nest by nature. Reads through io_uring, spans that stand for many calls, and GPU kernels of one
/// stream may overlap; what does not fit into the innermost open slice goes to a further track.
final class Lanes {
    interface Maker {
        Track track(int lane) throws IOException;
    }

    private final Maker tracks;
    private final TraceFormat format;
    private final List<Lane> lanes = new ArrayList<>();

    /// @param tracks makes the track of a lane, counted from 0
    Lanes(Maker tracks, TraceFormat format) {
        this.tracks = tracks;
        this.format = format;
    }

    /// Writes a slice that begins no earlier than the ones before.
    void add(Slice slice) throws IOException {
        for (int i = 0; ; i++) {
            if (i == lanes.size()) {
                Track track = tracks.track(i);
                format.track(track);
                lanes.add(new Lane(track));
            }
            Lane lane = lanes.get(i);
            lane.endUntil(slice.start());
            if (lane.holds(slice)) {
                lane.begin(slice);
                return;
            }
        }
    }

    /// Ends what is open.
    void end() throws IOException {
        for (Lane lane : lanes) {
            lane.endUntil(Long.MAX_VALUE);
        }
    }

    private final class Lane {
        private final Track track;
        /// The ends of the open slices, the innermost last.
        private long[] ends = new long[4];
        private int depth;

        Lane(Track track) {
            this.track = track;
        }

        boolean holds(Slice slice) {
            return depth == 0 || slice.end() <= ends[depth - 1];
        }

        void begin(Slice slice) throws IOException {
            format.begin(track, slice);
            if (slice.isInstant()) {
                return;
            }
            if (depth == ends.length) {
                ends = Arrays.copyOf(ends, 2 * depth);
            }
            ends[depth++] = slice.end();
        }

        void endUntil(long nanos) throws IOException {
            while (depth > 0 && ends[depth - 1] <= nanos) {
                format.end(track, ends[--depth]);
            }
        }
    }
}
