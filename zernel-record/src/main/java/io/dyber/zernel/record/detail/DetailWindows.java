package io.dyber.zernel.record.detail;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.activity.GpuActivity;
import io.dyber.zernel.record.attach.Attachments;
import io.dyber.zernel.record.attach.CallCost;
import io.dyber.zernel.record.attach.DetailProbes;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.option.Detail;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.rows.EventWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/// Opens and closes the windows in which detail is recorded, as [Schedule] says, and remembers them for the footer.
///
/// The drain thread tells it of steps; the rest belongs to the recording's thread.
public final class DetailWindows {
    private static final long MEASURE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Detail asked;
    private final double budget;
    private final Attachments attachments;
    private final DetailProbes probes;
    private final GpuActivity activity;
    private final EventWriter writer;
    private final Job job;
    private final CallCost cost;
    private final Schedule schedule;
    private final Queue<Step> steps = new ConcurrentLinkedQueue<>();
    private final List<Footer.DetailWindow> windows = new ArrayList<>();
    private State state = State.OPEN;
    private long openedAt;
    private String reason = "start";
    private long lostBefore;
    private long hitsBefore;
    private long measuredAt;

    private enum State {
        OPEN,
        CLOSING,
        CLOSED
    }

    public DetailWindows(
            RecordOptions options,
            Attachments attachments,
            DetailProbes probes,
            GpuActivity activity,
            EventWriter writer,
            Job job,
            CallCost cost) {
        this.asked = options.detail();
        this.budget = options.overheadBudget();
        this.attachments = attachments;
        this.probes = probes;
        this.activity = activity;
        this.writer = writer;
        this.job = job;
        this.cost = cost;
        long now = now();
        this.schedule = new Schedule(asked, budget, now);
        this.openedAt = now;
        this.measuredAt = now;
    }

    private long now() {
        return writer.epochNanos(Clock.monotonicNanos());
    }

    /// The probes are there, and the processes to be recorded may go on.
    public void begin() {
        activity.want(true);
        openedAt = now();
        measuredAt = openedAt;
        schedule.begins(openedAt);
    }

    /// Hears of a step; any thread may tell.
    public void add(Step step) {
        if (asked.inWindows()) {
            steps.add(step);
        }
    }

    /// Something has happened that is worth a window.
    public void trigger() {
        schedule.trigger(now());
    }

    /// Whether there is anything that windows begin and end for.
    public boolean comeAndGo() {
        return asked.inWindows() && !probes.isEmpty();
    }

    /// Does what is to be done now.
    ///
    /// @return what people should know
    public Optional<String> tick() {
        if (!asked.inWindows()) {
            return Optional.empty();
        }
        for (Step step = steps.poll(); step != null; step = steps.poll()) {
            schedule.add(step);
        }
        measure();
        boolean wanted = schedule.wantsOpen(now());
        switch (state) {
            case OPEN -> {
                if (!wanted) {
                    close();
                }
            }
            case CLOSING -> {
                if (attachments.settleDetail() && activity.isOff()) {
                    state = State.CLOSED;
                    schedule.settled(now());
                }
            }
            case CLOSED -> {
                if (wanted) {
                    open();
                }
            }
        }
        return schedule.takeNotice();
    }

    /// Takes in what detail takes by the cost of a call.
    private void measure() {
        long now = now();
        if (state == State.OPEN && now - measuredAt > MEASURE_NANOS) {
            long hits = probes.hits();
            double calls = (double) (hits - hitsBefore) / (now - measuredAt);
            double each = cost.isKnown() ? cost.returned().recorded() + activity.launchNanos() : Double.POSITIVE_INFINITY;
            schedule.load(hits == hitsBefore ? 0 : calls * each, now);
            hitsBefore = hits;
            measuredAt = now;
        }
    }

    private void open() {
        schedule.opening(now());
        reason = schedule.reason();
        lostBefore = probes.lost();
        activity.want(true);
        openedAt = writer.epochNanos(attachments.openDetail(() -> job.detail(true)));
        hitsBefore = probes.hits();
        measuredAt = openedAt;
        state = State.OPEN;
        schedule.opened(openedAt);
    }

    private void close() {
        long closedAt = writer.epochNanos(attachments.closeDetail(() -> job.detail(false)));
        activity.want(false);
        windows.add(window(closedAt));
        state = State.CLOSING;
        schedule.closed(closedAt);
    }

    /// The recording ends: all probes are about to go.
    public void end() {
        if (state == State.OPEN && !windows.isEmpty()) {
            windows.add(window(now()));
            state = State.CLOSED;
        }
    }

    private Footer.DetailWindow window(long end) {
        return new Footer.DetailWindow(openedAt, end, reason, probes.lost() == lostBefore);
    }

    /// The footer's `zernel.detail` of a file that holds what was between two moments.
    public Footer.Detail describe(long from, long to) {
        List<Footer.DetailWindow> within = new ArrayList<>();
        windows.stream().filter(one -> one.endNs() > from && one.startNs() < to).forEach(within::add);
        boolean always = windows.isEmpty() && state == State.OPEN;
        if (state == State.OPEN && openedAt < to) {
            within.add(window(to));
        }
        return new Footer.Detail(
                asked.toString(),
                schedule.recorded(),
                asked.mode() == Detail.Mode.AUTO ? budget : null,
                schedule.why(),
                Footer.DETAIL_KINDS,
                always ? null : within);
    }
}
