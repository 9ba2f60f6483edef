package io.dyber.zernel.record.nvml;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// Asks the driver about all GPUs again and again, on a thread of its own.
///
/// The driver may take long to answer, or for ever when a GPU hangs: nobody waits for this thread longer than a moment.
/// What it knows may be read by any thread.
public final class GpuSampler {
    private static final long PATIENCE_MILLIS = 2_000;

    private final Duration interval;
    private final boolean devices;
    private final boolean processes;
    private final LongSupplier clock;
    private final Consumer<List<GpuValue>> taker;
    private final Queue<String> notices = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::run, "zernel-gpus");
    private volatile boolean stopping;
    private volatile State state = new State("", "", List.of(), 0, 0);

    /// What is known so far.
    ///
    /// @param unavailable why there is nothing to sample; empty when there is, or when that is not known yet
    /// @param driver its version
    /// @param rounds in which all GPUs were asked
    /// @param missed rounds that were left out because the driver took too long
    public record State(String unavailable, String driver, List<GpuFacts> gpus, long rounds, long missed) {
        public State {
            gpus = List.copyOf(gpus);
        }

        /// Whether values have been, or will be, read.
        public boolean isSampling() {
            return !gpus.isEmpty();
        }
    }

    /// @param interval between two rounds
    /// @param devices whether the values of the devices are wanted
    /// @param processes whether those of the processes on them are
    /// @param clock gives the values their time
    /// @param taker gets each round's values, on the sampler's thread
    public GpuSampler(
            Duration interval,
            boolean devices,
            boolean processes,
            LongSupplier clock,
            Consumer<List<GpuValue>> taker) {
        this.interval = interval;
        this.devices = devices;
        this.processes = processes;
        this.clock = clock;
        this.taker = taker;
        thread.setDaemon(true);
    }

    /// The GPUs there are, without sampling them.
    ///
    /// @throws NvmlException when there are none
    public static State look() throws NvmlException {
        try (Nvml nvml = Nvml.open()) {
            return new State("", nvml.driver(), facts(Gpu.all(nvml, _ -> {})), 0, 0);
        }
    }

    private static List<GpuFacts> facts(List<Gpu> gpus) {
        return gpus.stream().map(Gpu::facts).toList();
    }

    public void start() {
        thread.start();
    }

    public State state() {
        return state;
    }

    /// One line about something that went wrong since the last call.
    public Optional<String> takeNotice() {
        return Optional.ofNullable(notices.poll());
    }

    /// Ends sampling. Unless this returns false, no value comes afterwards.
    ///
    /// @return false when the driver still has not answered
    public boolean stop() {
        stopping = true;
        LockSupport.unpark(thread);
        try {
            return thread.join(Duration.ofMillis(PATIENCE_MILLIS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return !thread.isAlive();
        }
    }

    private void run() {
        try (Nvml nvml = Nvml.open()) {
            List<Gpu> gpus = Gpu.all(nvml, notices::add);
            state = new State("", nvml.driver(), facts(gpus), 0, 0);
            sample(nvml, gpus);
        } catch (NvmlException e) {
            state = new State(String.valueOf(e.getMessage()), "", List.of(), 0, 0);
        }
    }

    private void sample(Nvml nvml, List<Gpu> gpus) {
        Xids xids = new Xids(nvml);
        if (devices) {
            gpus.forEach(gpu -> gpu.watch(xids, clock.getAsLong()));
            gpus.forEach(gpu -> gpu.forgetBusy(clock.getAsLong(), micros()));
        }
        if (processes) {
            gpus.forEach(Gpu::forgetLoads);
        }
        long next = System.nanoTime();
        while (!stopping) {
            round(gpus, xids);
            next += interval.toNanos();
            long late = (System.nanoTime() - next) / interval.toNanos();
            if (late > 0) {
                next += late * interval.toNanos();
            }
            state = new State("", state.driver(), facts(gpus), state.rounds() + 1, state.missed() + Math.max(0, late));
            awaitTime(next);
        }
        if (devices) {
            // What the driver saw since the last round.
            List<GpuValue> values = new ArrayList<>();
            gpus.forEach(gpu -> gpu.sampleBusy(clock.getAsLong(), micros(), values::add));
            taker.accept(values);
        }
        gpus.forEach(Gpu::close);
        xids.close();
    }

    private void awaitTime(long next) {
        for (long left = next - System.nanoTime(); left > 0 && !stopping; left = next - System.nanoTime()) {
            LockSupport.parkNanos(this, Math.min(left, TimeUnit.SECONDS.toNanos(1)));
        }
    }

    /// The time of day.
    private static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    private void round(List<Gpu> gpus, Xids xids) {
        List<GpuValue> values = new ArrayList<>();
        if (devices) {
            long now = clock.getAsLong();
            xids.poll((device, xid) -> gpus.stream()
                    .filter(gpu -> gpu.address() == device)
                    .forEach(gpu -> values.add(new GpuValue(now, gpu.index(), GpuValue.DEVICE, "xid", xid, ""))));
        }
        for (Gpu gpu : gpus) {
            if (!stopping && !gpu.isLost()) {
                long now = clock.getAsLong();
                long nowMicros = micros();
                if (processes) {
                    gpu.sampleProcesses(now, values::add);
                }
                if (devices) {
                    gpu.sampleBusy(now, nowMicros, values::add);
                    gpu.sample(now, values::add);
                    gpu.sampleCounters(now, values::add);
                }
            }
        }
        taker.accept(values);
    }
}
