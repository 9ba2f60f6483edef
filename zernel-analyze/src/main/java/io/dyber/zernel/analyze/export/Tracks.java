package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.Table;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/// Makes the tracks of a trace, each announced to the format when it is first asked for.
///
/// Where several recordings are open, process and thread numbers are moved apart by recording. Tracks that are no
/// threads get thread numbers above all that Linux gives.
final class Tracks {
    /// One more than the largest process number of Linux (PID_MAX_LIMIT).
    private static final long NUMBERS_PER_RECORDING = 1L << 22;

    private static final long FIRST_FREE_TID = 1L << 31;
    /// Room between the places of two threads, for the lanes of the first.
    private static final int LANES_PER_THREAD = 64;

    private record Key(int recording, long number) {}

    private record Described(String name, String commandLine, int order) {}

    private final TraceFormat format;
    private final Map<Key, Described> known = new HashMap<>();
    private final Map<Key, String> threadNames = new HashMap<>();
    private final Map<Key, Track> processes = new HashMap<>();
    private final Map<Key, Integer> threadOrders = new HashMap<>();
    private final boolean several;
    private long lastId;
    private long freeTid = FIRST_FREE_TID;

    Tracks(Database database, TraceFormat format) {
        this.format = format;
        this.several = database.recordings().size() > 1;
        for (Table.Row row : database.query(
                        """
                        FROM processes
                        ORDER BY role NOT IN ('training', 'inference'), TRY_CAST(rank AS BIGINT), recording, role DESC, pid
                        """)
                .rows()) {
            String rank = row.text("rank");
            String comm = row.text("comm");
            String command = row.text("cmdline");
            known.put(
                    new Key((int) row.integer("recording"), row.integer("pid")),
                    new Described(
                            (rank == null ? "" : "rank " + rank + ": ") + (comm == null ? row.text("role") : comm),
                            command == null ? "" : command,
                            known.size() + 1));
        }
        for (Table.Row row : database.query(
                        "SELECT recording, tid, arg_max(comm, last_ns) AS comm FROM _thread_kinds WHERE tid IS NOT NULL GROUP BY ALL")
                .rows()) {
            String comm = row.text("comm");
            threadNames.put(new Key((int) row.integer("recording"), row.integer("tid")), comm == null ? "" : comm);
        }
    }

    /// A process; process 0 stands for what belongs to none: GPUs, losses.
    Track process(int recording, long pid) throws IOException {
        Key key = new Key(recording, pid);
        Track track = processes.get(key);
        if (track == null) {
            Described process = known.getOrDefault(key, new Described(pid == 0 ? "machine" : "process", "", 0));
            long number = number(recording, pid);
            track = new Track(
                    ++lastId, null, Track.Type.PROCESS, process.name(), number, number, process.order(), process.commandLine());
            processes.put(key, track);
            format.track(track);
        }
        return track;
    }

    /// The track of a thread, or with a lane above 0 one beside it; the format does not know it yet.
    Track thread(int recording, long pid, long tid, int lane) throws IOException {
        Track process = process(recording, pid);
        Key key = new Key(recording, tid);
        int order = threadOrders.computeIfAbsent(key, _ -> threadOrders.size() + 1) * LANES_PER_THREAD;
        String name = threadNames.getOrDefault(key, "");
        if (lane == 0) {
            return new Track(++lastId, process, Track.Type.THREAD, name, process.pid(), number(recording, tid), order, "");
        }
        return new Track(
                ++lastId,
                process,
                Track.Type.SLICES,
                name + " " + tid + " overlapping",
                process.pid(),
                freeTid++,
                order + Math.min(lane, LANES_PER_THREAD - 1),
                "");
    }

    /// A track for slices that are no thread's calls; the format does not know it yet.
    Track slices(Track process, String name, int order) {
        return new Track(++lastId, process, Track.Type.SLICES, name, process.pid(), freeTid++, order, "");
    }

    Track counter(Track process, String name, String unit) throws IOException {
        Track track = new Track(++lastId, process, Track.Type.COUNTER, name, process.pid(), process.tid(), 0, unit);
        format.track(track);
        return track;
    }

    private long number(int recording, long number) {
        return several ? recording * NUMBERS_PER_RECORDING + number : number;
    }
}
