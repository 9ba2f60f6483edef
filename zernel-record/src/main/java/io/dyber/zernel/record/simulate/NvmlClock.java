package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.util.ArrayList;
import java.util.List;

/// What the GPU driver would have said each second.
final class NvmlClock {
    static final long SECOND = 1_000_000_000L;
    /// The bit of `throttle` for a GPU that is too hot.
    private static final long THERMAL = 32;

    private static final long POWER_LIMIT = 700_000;

    /// Device memory of a rank at a time.
    private record Memory(long nanos, long usedBytes) {}

    private final boolean recorded;
    private final JobParameters shape;
    private final Timeline timeline;
    private final List<Rank> ranks;
    private final Noise noise;
    private final List<List<Memory>> memory = new ArrayList<>();

    /// @param recorded whether there is a driver to ask
    NvmlClock(boolean recorded, JobParameters shape, Timeline timeline, List<Rank> ranks, Noise noise) {
        this.recorded = recorded;
        this.shape = shape;
        this.timeline = timeline;
        this.ranks = ranks;
        this.noise = noise;
        ranks.forEach(_ -> memory.add(new ArrayList<>()));
    }

    /// Takes down what the driver does not remember.
    void note() {
        for (Rank rank : timeline.isSilent() ? List.<Rank>of() : ranks) {
            memory.get(rank.gpu().device()).add(new Memory(rank.now(), rank.allocator().deviceBytes()));
        }
    }

    void write() {
        if (timeline.isSilent() || !recorded) {
            return;
        }
        int seconds = (int) ((timeline.lastNanos() - Simulation.START_NANOS) / SECOND);
        for (Rank rank : ranks) {
            long[] busy = rank.gpu().busy(Simulation.START_NANOS, SECOND, seconds);
            List<Memory> notes = memory.get(rank.gpu().device());
            double temperature = 38;
            double energy = 1e9;
            int at = 0;
            for (int i = 0; i < seconds; i++) {
                long now = Simulation.START_NANOS + (i + 1) * SECOND;
                while (at < notes.size() && notes.get(at).nanos() <= now) {
                    at++;
                }
                double share = Math.min(1, (double) busy[i] / SECOND);
                double power = 95_000 + share * 480_000 + noise.between(-9_000.0, 9_000.0);
                temperature += 0.1 * (36 + power / 16_000 - temperature);
                energy += power;
                long used = at == 0 ? 0 : notes.get(at - 1).usedBytes();
                device(rank, now, share, Math.round(power), Math.round(temperature), used);
                value(rank.gpu().device(), "energy", now, Math.round(energy), "mJ");
                if (i > 0) {
                    counters(rank.gpu().device(), now, share);
                }
                process(rank, now + 400_000, share, used);
            }
        }
    }

    private void device(Rank rank, long now, double share, long power, long temperature, long used) {
        int device = rank.gpu().device();
        double slowness = rank.handicapAt(now).slowness();
        value(device, "utilization", now, Math.round(100 * share), "percent");
        value(device, "memory_utilization", now, Math.round(55 * share), "percent");
        value(device, "memory_total", now, shape.memoryTotal(), "bytes");
        value(device, "memory_used", now, used + JobParameters.DRIVER_BYTES, "bytes");
        value(device, "power", now, power, "mW");
        value(device, "power_limit", now, POWER_LIMIT, "mW");
        value(device, "temperature", now, temperature, "C");
        value(device, "clock_sm", now, share > 0.02 ? Math.round(1_980 / slowness) : 345, "MHz");
        value(device, "clock_mem", now, 2_619, "MHz");
        value(device, "throttle", now, share <= 0.02 ? 1 : slowness > 1 ? THERMAL : 0, "bits");
        value(device, "ecc_errors", now, 0, "");
        value(device, "ecc_corrected", now, 0, "");
    }

    /// What a training in BF16 has on a GPU of that size while its kernels run. The first interval has no counters.
    private void counters(int device, long now, double share) {
        value(device, "sm_active", now, Math.round(780_000 * share), "ppm");
        value(device, "sm_occupancy", now, Math.round(410_000 * share), "ppm");
        value(device, "tensor_active", now, Math.round(220_000 * share), "ppm");
        value(device, "fp32_active", now, Math.round(120_000 * share), "ppm");
        value(device, "dram_active", now, Math.round(460_000 * share), "ppm");
    }

    private void process(Rank rank, long now, double share, long used) {
        if (used == 0) {
            return;
        }
        row("gpu_process", rank.gpu().device(), "memory_used", now, used, "bytes")
                .with("pid", rank.main().pid())
                .with("comm", rank.main().comm());
        if (share > 0) {
            row("gpu_process", rank.gpu().device(), "sm", now, Math.round(100 * share), "percent")
                    .with("pid", rank.main().pid())
                    .with("comm", rank.main().comm());
        }
    }

    private void value(int device, String name, long now, long value, String unit) {
        row("gpu_sample", device, name, now, value, unit);
    }

    private Timeline row(String kind, int device, String name, long now, long value, String unit) {
        Timeline row = timeline.sample(kind, name, now).with("device", device).with("value", value);
        return unit.isEmpty() ? row : row.with("unit", unit);
    }
}
