package io.dyber.zernel.record.activity;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.dyber.zernel.format.Footer;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/// What one process hands over, in order: activities wait for the clock and for the calls that launched them, which come in any
/// order before the second reading of the clock after them.
///
/// The activity thread reads; any thread may ask what is known.
final class ProcessActivity implements AutoCloseable {
    /// State of a process that ended without handing over what CUPTI had.
    static final String KILLED = "killed";

    /// So many wait at most, should the clock not come.
    private static final int MOST_WAITING = 500_000;
    /// Names and windows that are remembered of one process, which may say what it likes.
    private static final int MOST_NAMES = 200_000;

    private static final int MOST_WINDOWS = 100_000;
    private static final int LOST_ROWS = 3;
    private static final int LOST_CALLS = 3;
    private static final int DROPPED = 4;
    private static final int UNTIMED = 5;

    private final ActivityRing ring;
    private final UnaryOperator<String> demangler;
    private final Sink sink;
    private final Launches launches = new Launches();
    private final CuptiClock clock = new CuptiClock();
    private final Map<Integer, String> names = new HashMap<>();
    private final List<Window> windows = new ArrayList<>();
    private List<Activity> young = new ArrayList<>();
    private List<Activity> old = new ArrayList<>();
    private long rows;
    private long unlaunched;
    private final boolean visible;
    private volatile ActivityRing.State state;
    private boolean closed;
    private Footer.ActivityProcess facts;

    /// Takes rows, times in CLOCK_MONOTONIC.
    interface Sink {
        /// A row.
        ///
        /// @param launch when the call began that launched it; 0 when that is not known
        void row(int pid, Activity activity, long start, long end, long launch);
    }

    /// A time in which activity was recorded, from the first activity to the end of the last; CLOCK_MONOTONIC.
    private static final class Window {
        /// When recording was switched on.
        final long opened;

        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        long rows;

        Window(long opened) {
            this.opened = opened;
        }
    }

    ProcessActivity(ActivityRing ring, UnaryOperator<String> demangler, Sink sink) {
        this.ring = ring;
        this.demangler = demangler;
        this.sink = sink;
        this.visible = exists();
        this.state = ring.state();
        this.facts = describeRing();
    }

    /// What the process last said that it does; any thread may ask.
    ActivityRing.State state() {
        return state;
    }

    /// One in another pid namespace cannot be looked up.
    private boolean exists() {
        return Files.exists(Path.of("/proc", Integer.toString(ring.pid())));
    }

    /// Whether nothing can come any more.
    boolean isOver() {
        return (visible && !exists()) || ring.isBroken() || ring.state().compareTo(ActivityRing.State.ASIDE) >= 0;
    }

    /// Takes in what is there.
    ///
    /// @return whether there was something
    synchronized boolean read() {
        state = ring.state();
        boolean more = ring.read(this::take);
        facts = describeRing();
        return more;
    }

    /// Writes what still waits. Nothing comes any more.
    @Override
    public synchronized void close() {
        boolean _ = ring.read(this::take);
        closed = true;
        resolve(old, true);
        resolve(young, true);
        facts = describeRing();
        ring.close();
    }

    private void take(int type, MemorySegment data, long at, int bytes) {
        switch (type) {
            case ActivityRing.KERNEL -> add(kernel(data, at));
            case ActivityRing.COPY -> add(copy(data, at));
            case ActivityRing.FILL -> add(fill(data, at));
            case ActivityRing.CALL -> launches.add(data.get(JAVA_INT, at + 8), data.get(JAVA_LONG, at));
            case ActivityRing.NAME -> name(data, at, bytes);
            case ActivityRing.CLOCK -> {
                clock.add(data.get(JAVA_LONG, at), data.get(JAVA_LONG, at + 8), data.get(JAVA_LONG, at + 16));
                turn();
            }
            case ActivityRing.SWITCH -> {
                if (data.get(JAVA_INT, at + 8) != 0) {
                    open(data.get(JAVA_LONG, at));
                }
            }
            default -> {
                // The rest of the ring before it begins again.
            }
        }
    }

    private Activity kernel(MemorySegment data, long at) {
        Activity.Size size = new Activity.Size(
                data.get(JAVA_INT, at + 32),
                data.get(JAVA_INT, at + 36),
                data.get(JAVA_INT, at + 40),
                data.get(JAVA_INT, at + 44),
                data.get(JAVA_INT, at + 48),
                data.get(JAVA_INT, at + 52));
        String name = names.getOrDefault(data.get(JAVA_INT, at + 28), "");
        return new Activity(
                ActivityRing.KERNEL,
                data.get(JAVA_LONG, at),
                data.get(JAVA_LONG, at + 8),
                data.get(JAVA_INT, at + 16),
                data.get(JAVA_INT, at + 20),
                data.get(JAVA_INT, at + 24),
                name,
                0,
                size,
                0,
                0,
                0);
    }

    private static Activity copy(MemorySegment data, long at) {
        int direction = data.get(JAVA_BYTE, at + 28);
        int from = data.get(JAVA_BYTE, at + 29);
        int to = data.get(JAVA_BYTE, at + 30);
        return transfer(ActivityRing.COPY, data, at, CopyNames.copy(direction, from, to), direction, from, to);
    }

    private static Activity fill(MemorySegment data, long at) {
        return transfer(ActivityRing.FILL, data, at, CopyNames.fill(data.get(JAVA_INT, at + 28)), 0, 0, 0);
    }

    private static Activity transfer(int what, MemorySegment data, long at, String name, int direction, int from, int to) {
        return new Activity(
                what,
                data.get(JAVA_LONG, at),
                data.get(JAVA_LONG, at + 8),
                data.get(JAVA_INT, at + 16),
                data.get(JAVA_INT, at + 20),
                data.get(JAVA_INT, at + 24),
                name,
                data.get(JAVA_LONG, at + 32),
                Activity.Size.NONE,
                direction,
                from,
                to);
    }

    private void name(MemorySegment data, long at, int bytes) {
        int length = Math.clamp(data.get(JAVA_INT, at + 4), 0, bytes - 8);
        String mangled = new String(data.asSlice(at + 8, length).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
        if (names.size() < MOST_NAMES) {
            names.put(data.get(JAVA_INT, at), demangler.apply(mangled));
        }
    }

    private void open(long at) {
        if (windows.size() < MOST_WINDOWS) {
            windows.add(new Window(at));
        }
    }

    /// That in which it was launched, which a GPU that lags behind may complete in the next one.
    private Window windowOf(long launched) {
        if (windows.isEmpty()) {
            open(launched);
        }
        for (int i = windows.size() - 1; i > 0; i--) {
            if (windows.get(i).opened <= launched) {
                return windows.get(i);
            }
        }
        return windows.getFirst();
    }

    private void add(Activity activity) {
        young.add(activity);
        if (young.size() > MOST_WAITING) {
            turn();
        }
    }

    /// The clock was read: what came before the last reading has its call, or never will.
    private void turn() {
        resolve(old, true);
        resolve(young, false);
        List<Activity> empty = old;
        old = young;
        young = empty;
    }

    /// Writes those whose call is known, or all.
    private void resolve(List<Activity> waiting, boolean all) {
        waiting.removeIf(activity -> {
            long launch = launches.start(activity.call());
            if (!all && launch == 0) {
                return false;
            }
            write(activity, launch);
            return true;
        });
    }

    private void write(Activity activity, long launch) {
        long start = clock.monotonic(activity.start());
        long end = start + activity.end() - activity.start();
        rows++;
        unlaunched += launch == 0 ? 1 : 0;
        long launched = launch == 0 ? 0 : clock.monotonic(launch);
        Window window = windowOf(launch == 0 ? start : launched);
        window.first = Math.min(window.first, start);
        window.last = Math.max(window.last, end);
        window.rows++;
        sink.row(ring.pid(), activity, start, end, launched);
    }

    private String stateWord() {
        if (ring.isBroken()) {
            return "broken";
        }
        return closed && ring.state() == ActivityRing.State.ON ? KILLED : ring.state().name().toLowerCase(Locale.ROOT);
    }

    private Footer.ActivityProcess describeRing() {
        long lost = 0;
        for (int what = 0; what < LOST_ROWS; what++) {
            lost += ring.lost(what);
        }
        return new Footer.ActivityProcess(
                ring.pid(),
                ring.library(),
                ring.version(),
                stateWord(),
                ring.isBroken() ? "what it hands over makes no sense" : ring.why(),
                rows,
                unlaunched,
                lost,
                ring.lost(LOST_CALLS),
                ring.lost(DROPPED),
                ring.lost(UNTIMED),
                ring.overheadNanos(),
                clock.errorNanos(),
                List.of());
    }

    /// For the footer of a file that holds what was between two moments.
    ///
    /// @param offset from CLOCK_MONOTONIC to the epoch
    synchronized Footer.ActivityProcess describe(long from, long to, long offset) {
        List<Footer.ActivityWindow> within = windows.stream()
                .filter(window -> window.rows > 0 && window.last + offset > from && window.first + offset < to)
                .map(window -> new Footer.ActivityWindow(window.first + offset, window.last + offset, window.rows))
                .toList();
        return facts.with(within);
    }
}
