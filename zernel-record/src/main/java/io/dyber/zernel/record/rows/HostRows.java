package io.dyber.zernel.record.rows;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Capabilities;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.host.HostSampler.LeftOut;
import io.dyber.zernel.record.host.HostSampler;
import io.dyber.zernel.record.host.HostValue;
import io.dyber.zernel.record.option.RecordOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/// Samples the host on a thread of its own, and turns the values into rows of the recording.
public final class HostRows {
    static final String KIND = "host_sample";

    private static final long PATIENCE_MILLIS = 2_000;

    private final EventWriter writer;
    private final Supplier<Set<Integer>> recorded;
    private final Duration interval;
    private final boolean wanted;
    private final Thread thread = new Thread(this::run, "zernel-host");
    private volatile boolean stopping;
    private volatile String problem = "";
    private volatile State state = new State(0, 0, 0, new LeftOut(0, 0, 0));

    /// @param missed rounds that were left out because one took too long
    /// @param cpuNanos CPU time of all rounds
    private record State(long rounds, long missed, long cpuNanos, LeftOut leftOut) {}

    /// @param recorded the recorded processes, asked on the sampler's thread
    public HostRows(RecordOptions options, EventWriter writer, Supplier<Set<Integer>> recorded) {
        this.writer = writer;
        this.recorded = recorded;
        this.interval = options.hostInterval();
        this.wanted = options.kinds().contains(KIND) && !interval.isZero();
        thread.setDaemon(true);
    }

    public void start() {
        if (wanted) {
            thread.start();
        }
    }

    /// Waits a moment for the round that is going on.
    public void stop() {
        stopping = true;
        LockSupport.unpark(thread);
        try {
            boolean _ = !wanted || thread.getState() == Thread.State.NEW
                    || thread.join(Duration.ofMillis(PATIENCE_MILLIS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        Capabilities.keepThoseOfRecording();
        Path root = Path.of(System.getProperty(HostSampler.ROOT_PROPERTY, "/"));
        try (HostSampler sampler = new HostSampler(root, Clock::monotonicNanos)) {
            long next = System.nanoTime();
            while (!stopping) {
                take(sampler.sample(recorded.get()));
                next += interval.toNanos();
                long late = Math.max(0, (System.nanoTime() - next) / interval.toNanos());
                next += late * interval.toNanos();
                state = new State(state.rounds() + 1, state.missed() + late, HostSampler.ownCpuNanos(), sampler.leftOut());
                awaitTime(next);
            }
        } catch (RuntimeException e) {
            problem = "reading /proc and /sys: " + e;
        }
    }

    private void awaitTime(long next) {
        for (long left = next - System.nanoTime(); left > 0 && !stopping; left = next - System.nanoTime()) {
            LockSupport.parkNanos(this, Math.min(left, TimeUnit.SECONDS.toNanos(1)));
        }
    }

    private void take(List<HostValue> values) {
        writer.write(values.stream().map(this::event).toList());
    }

    private EventWriter.NewEvent event(HostValue found) {
        EventWriter.NewEvent event = writer.event(KIND, found.name(), writer.epochNanos(found.nanos()))
                .with("value", found.value())
                .with("comm", found.comm())
                .with("object", found.object())
                .with("unit", found.unit());
        return found.ofProcess() ? event.with("pid", found.pid()) : event;
    }

    /// Why the host was not sampled to the end.
    public List<String> caveats() {
        return problem.isEmpty() ? List.of() : List.of(problem);
    }

    /// The footer's `zernel.host`; empty when the host is not sampled.
    public Optional<Footer.HostSampling> describe() {
        State now = state;
        return wanted
                ? Optional.of(new Footer.HostSampling(
                        problem,
                        interval.toNanos(),
                        now.rounds(),
                        now.missed(),
                        now.cpuNanos(),
                        now.leftOut().processes(),
                        now.leftOut().links(),
                        now.leftOut().refused()))
                : Optional.empty();
    }
}
