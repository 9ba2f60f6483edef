package io.dyber.zernel.record.activity;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Capabilities;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.rows.EventWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

/// What ran on the GPUs of a command that we start (`--gpu-activity`): a library that the CUDA driver loads into its processes
/// asks CUPTI, and hands the answers over in shared memory. A thread makes rows of them.
///
/// Without the option it does nothing. The recording's thread starts, switches and stops it; any thread may ask what is known.
public final class GpuActivity {
    public static final String KERNEL = "gpu_kernel";
    public static final String COPY = "gpu_memcpy";
    public static final String FILL = "gpu_memset";
    public static final Set<String> KINDS = Set.of(KERNEL, COPY, FILL);

    /// What the CUDA driver loads when a program starts CUDA.
    public static final String INJECTION = "CUDA_INJECTION64_PATH";

    /// What one launch costs more while it is on: 854 records made a step of 22.4 ms 4.6 ms longer (H100, CUDA 13.0).
    public static final double LAUNCH_NANOS = 5_400;

    /// System property: bytes of a process's ring, a power of two; for tests.
    public static final String RING_PROPERTY = "zernel.activity.ring";

    private static final long RING_BYTES = 8 << 20;
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final RecordOptions options;
    private final EventWriter writer;
    private final UnaryOperator<String> demangler;
    private final Map<String, List<long[]>> rows = new HashMap<>();
    private final List<ProcessActivity> processes = new CopyOnWriteArrayList<>();
    private final List<ProcessActivity> living = new CopyOnWriteArrayList<>();
    private final Queue<String> notices = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::run, "zernel-activity");
    private Optional<ActivityFolder> folder = Optional.empty();
    private Columns columns = Columns.NONE;
    private volatile String problem = "";
    private volatile boolean stopping;
    private long wantedSince;

    /// Where the columns of rows stand.
    private record Columns(int name, int start, int duration, int pid, int device, int stream, int call, int launch, int bytes,
            int direction, int memory, int gridX, int gridY, int gridZ, int blockX, int blockY, int blockZ) {
        static final Columns NONE = new Columns(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

        static Columns of(EventWriter writer) {
            return new Columns(
                    writer.column("name"),
                    writer.column("ts_ns"),
                    writer.column("dur_ns"),
                    writer.column("pid"),
                    writer.column("device"),
                    writer.column("stream"),
                    writer.column("correlation"),
                    writer.column("launch_ns"),
                    writer.column("bytes"),
                    writer.column("copy_kind"),
                    writer.column("host_memory"),
                    writer.column("grid_x"),
                    writer.column("grid_y"),
                    writer.column("grid_z"),
                    writer.column("block_x"),
                    writer.column("block_y"),
                    writer.column("block_z"));
        }
    }

    public GpuActivity(RecordOptions options, EventWriter writer, UnaryOperator<String> demangler) {
        this.options = options;
        this.writer = writer;
        this.demangler = demangler;
        thread.setDaemon(true);
    }

    /// Whether it was asked for.
    public boolean isAsked() {
        return options.gpuActivity();
    }

    /// Makes ready for a command that is about to start.
    ///
    /// @param environment that the command will have
    /// @return what is to be added to it
    public Map<String, String> begin(Map<String, String> environment) {
        if (!isAsked()) {
            return Map.of();
        }
        if (environment.containsKey(INJECTION)) {
            problem = "another profiler is asked for: " + INJECTION + " is set";
            return Map.of();
        }
        try {
            ActivityFolder made = ActivityFolder.make(options.owner(), Long.getLong(RING_PROPERTY, RING_BYTES));
            folder = Optional.of(made);
            columns = Columns.of(writer);
            thread.start();
            return made.environment();
        } catch (IOException e) {
            problem = "making shared memory: " + e.getMessage();
            return Map.of();
        }
    }

    /// Has all processes record from now on, or no more.
    public void want(boolean on) {
        wantedSince = System.nanoTime();
        folder.ifPresent(made -> made.want(on));
    }

    /// Whether no process is recording, or those that do not answer have had the time to.
    public boolean isOff() {
        return living.stream().noneMatch(process -> process.state() == ActivityRing.State.ON)
                || System.nanoTime() - wantedSince > PATIENCE_NANOS;
    }

    /// What a launch costs the job while it is on, beside what probes cost.
    public double launchNanos() {
        return living.isEmpty() ? 0 : LAUNCH_NANOS;
    }

    /// Takes in what is left, and leaves nothing behind.
    public void stop() {
        if (folder.isEmpty()) {
            return;
        }
        want(false);
        while (!isOff()) {
            LockSupport.parkNanos(TICK_NANOS);
        }
        stopping = true;
        LockSupport.unpark(thread);
        try {
            thread.join(Duration.ofNanos(PATIENCE_NANOS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        try {
            folder.get().close();
        } catch (IOException e) {
            problem = "removing shared memory: " + e.getMessage();
        }
        folder = Optional.empty();
    }

    private void run() {
        Capabilities.keepThoseOfRecording();
        try {
            record(folder.orElseThrow());
        } catch (RuntimeException e) {
            problem = "reading shared memory: " + e;
        }
    }

    private void record(ActivityFolder from) {
        while (!stopping) {
            look(from);
            boolean more = false;
            for (ProcessActivity process : living) {
                more |= read(process);
            }
            hand();
            if (!more) {
                LockSupport.parkNanos(TICK_NANOS);
            }
        }
        look(from);
        living.forEach(ProcessActivity::close);
        living.clear();
        hand();
    }

    private void look(ActivityFolder from) {
        try {
            for (ActivityRing ring : from.newRings()) {
                ProcessActivity process = new ProcessActivity(ring, demangler, this::row);
                processes.add(process);
                living.add(process);
            }
        } catch (IOException e) {
            problem = "reading shared memory: " + e.getMessage();
        }
    }

    private boolean read(ProcessActivity process) {
        boolean over = process.isOver();
        boolean more = process.read();
        if (over && !more) {
            Footer.ActivityProcess end = process.describe(0, 0, 0);
            if (!end.why().isEmpty()) {
                notices.add("GPU activity of process " + end.pid() + " is not recorded: " + end.why());
            }
            living.remove(process);
            process.close();
        }
        return more;
    }

    private void row(int pid, Activity activity, long start, long end, long launch) {
        if (!options.kinds().contains(activity.kind())) {
            return;
        }
        long[] row = new long[2 * (8 + 6)];
        int at = put(row, 0, columns.name(), writer.text(activity.name()));
        at = put(row, at, columns.start(), writer.epochNanos(start));
        at = put(row, at, columns.duration(), end - start);
        at = put(row, at, columns.pid(), pid);
        at = put(row, at, columns.device(), activity.device());
        at = put(row, at, columns.stream(), activity.stream());
        at = put(row, at, columns.call(), Integer.toUnsignedLong(activity.call()));
        if (launch != 0) {
            at = put(row, at, columns.launch(), writer.epochNanos(launch));
        }
        if (activity.what() == ActivityRing.KERNEL) {
            at = put(row, at, columns.gridX(), activity.size().gridX());
            at = put(row, at, columns.gridY(), activity.size().gridY());
            at = put(row, at, columns.gridZ(), activity.size().gridZ());
            at = put(row, at, columns.blockX(), activity.size().blockX());
            at = put(row, at, columns.blockY(), activity.size().blockY());
            at = put(row, at, columns.blockZ(), activity.size().blockZ());
        } else {
            at = put(row, at, columns.bytes(), activity.bytes());
            boolean fill = activity.what() == ActivityRing.FILL;
            at = put(row, at, columns.direction(), writer.text(fill ? "memset" : CopyNames.direction(activity.direction())));
            String memory = CopyNames.hostMemory(activity.from(), activity.to());
            if (!memory.isEmpty()) {
                at = put(row, at, columns.memory(), writer.text(memory));
            }
        }
        rows.computeIfAbsent(activity.kind(), _ -> new ArrayList<>()).add(Arrays.copyOf(row, at));
    }

    private static int put(long[] row, int at, int column, long value) {
        row[at] = column;
        row[at + 1] = value;
        return at + 2;
    }

    private void hand() {
        rows.forEach(writer::write);
        rows.clear();
    }

    /// Why there is nothing; empty when there is, or when that is not known yet.
    public String unavailable() {
        if (!problem.isEmpty() || processes.isEmpty()) {
            return problem;
        }
        List<String> reasons = processes.stream()
                .map(process -> process.describe(0, 0, 0))
                .filter(process -> process.rows() == 0)
                .map(Footer.ActivityProcess::why)
                .distinct()
                .toList();
        boolean none = processes.stream().allMatch(process -> process.describe(0, 0, 0).rows() == 0);
        return none ? String.join("; ", reasons) : "";
    }

    /// Whether a process has asked CUPTI.
    public boolean isSeen() {
        return !processes.isEmpty();
    }

    /// One line about something that went wrong since the last call.
    public Optional<String> takeNotice() {
        return Optional.ofNullable(notices.poll());
    }

    /// Why the recording does not hold all activity that was asked for.
    public List<String> caveats() {
        List<String> reasons = new ArrayList<>();
        if (!problem.isEmpty()) {
            reasons.add("GPU activity: " + problem);
        }
        for (ProcessActivity process : processes) {
            Footer.ActivityProcess facts = process.describe(0, 0, 0);
            String of = " of process " + facts.pid();
            if (!facts.why().isEmpty()) {
                reasons.add("GPU activity" + of + ": " + facts.why());
            }
            if (facts.state().equals(ProcessActivity.KILLED)) {
                reasons.add("the last GPU activities" + of + " are missing: it was killed");
            }
            if (facts.lost() > 0) {
                reasons.add(facts.lost() + " GPU activities" + of + " found their ring full");
            }
            if (facts.dropped() > 0) {
                reasons.add(facts.dropped() + " GPU activities" + of + " were dropped by CUPTI");
            }
            if (facts.untimed() > 0) {
                reasons.add(facts.untimed() + " GPU activities" + of + " have no time");
            }
        }
        return reasons;
    }

    /// The footer's `zernel.gpu_activity` of a file that holds what was between two moments; empty where it was not asked for.
    public Optional<Footer.GpuActivity> describe(long from, long to) {
        long offset = writer.epochNanos(0);
        return isAsked()
                ? Optional.of(new Footer.GpuActivity(
                        problem,
                        processes.stream().map(process -> process.describe(from, to, offset)).toList()))
                : Optional.empty();
    }
}
