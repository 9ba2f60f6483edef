package io.dyber.zernel.record;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.event.Texts;
import io.dyber.zernel.record.nvml.GpuFacts;
import io.dyber.zernel.record.nvml.GpuFacts.Gap;
import io.dyber.zernel.record.nvml.GpuSampler;
import io.dyber.zernel.record.nvml.GpuValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;

/// Turns what the GPU driver says into rows of the recording. Without a GPU there are none, and that is no error.
final class GpuRows {
    static final String SAMPLE = "gpu_sample";
    static final String PROCESS = "gpu_process";
    static final Set<String> KINDS = Set.of(SAMPLE, PROCESS);

    private final RecordOptions options;
    private final EventPump pump;
    private final Texts texts;
    private final long clockOffset;
    private final int name;
    private final int start;
    private final int pid;
    private final int comm;
    private final int device;
    private final int value;
    private final int unit;
    private final Optional<GpuSampler> sampler;
    private volatile boolean stuck;

    GpuRows(RecordOptions options, EventPump pump, Schema schema, Clock clock, Texts texts) {
        this.options = options;
        this.pump = pump;
        this.texts = texts;
        this.clockOffset = clock.offsetNanos();
        this.name = schema.index("name");
        this.start = schema.index("ts_ns");
        this.pid = schema.index("pid");
        this.comm = schema.index("comm");
        this.device = schema.index("device");
        this.value = schema.index("value");
        this.unit = schema.index("unit");
        boolean samples = options.kinds().contains(SAMPLE);
        boolean processes = options.kinds().contains(PROCESS);
        this.sampler = (samples || processes) && !options.gpuInterval().isZero()
                ? Optional.of(new GpuSampler(
                        options.gpuInterval(), samples, processes, Clock::monotonicNanos, this::take))
                : Optional.empty();
    }

    void start() {
        sampler.ifPresent(GpuSampler::start);
    }

    /// Waits a moment for the driver, not longer.
    void stop() {
        stuck = sampler.isPresent() && !sampler.get().stop();
    }

    private void take(List<GpuValue> values) {
        Map<Integer, String> comms = new HashMap<>();
        List<long[]> rows = new ArrayList<>();
        for (GpuValue found : values) {
            rows.add(row(found, comms));
        }
        pump.later(decoder -> {
            for (int i = 0; i < rows.size(); i++) {
                decoder.add(values.get(i).ofProcess() ? PROCESS : SAMPLE, rows.get(i));
            }
        });
    }

    private long[] row(GpuValue found, Map<Integer, String> comms) {
        LongStream.Builder row = LongStream.builder()
                .add(name).add(texts.id(found.name()))
                .add(start).add(found.nanos() + clockOffset)
                .add(device).add(found.device())
                .add(value).add(found.value());
        if (!found.unit().isEmpty()) {
            row.add(unit).add(texts.id(found.unit()));
        }
        if (found.ofProcess()) {
            row.add(pid).add(found.pid());
            String title = comms.computeIfAbsent(found.pid(), GpuRows::comm);
            if (!title.isEmpty()) {
                row.add(comm).add(texts.id(title));
            }
        }
        return row.build().toArray();
    }

    private static String comm(int process) {
        try {
            return Files.readString(Path.of("/proc", Integer.toString(process), "comm")).strip();
        } catch (IOException _) {
            return "";
        }
    }

    /// Why there are no GPUs; empty when there are, or when that is not known yet.
    String unavailable() {
        return sampler.map(found -> found.state().unavailable()).orElse("");
    }

    boolean isSampling() {
        return sampler.isPresent() && sampler.get().state().isSampling();
    }

    /// What went wrong since the last call, one line each.
    List<String> notices() {
        List<String> lines = new ArrayList<>();
        sampler.ifPresent(found -> {
            for (Optional<String> line = found.takeNotice(); line.isPresent(); line = found.takeNotice()) {
                lines.add(line.get());
            }
        });
        return lines;
    }

    /// The footer's `zernel.gpus`.
    Optional<Footer.GpuSampling> describe() {
        return sampler.map(GpuSampler::state).map(state -> new Footer.GpuSampling(
                stuck ? "the NVIDIA driver did not answer at the end" : state.unavailable(),
                state.driver(),
                options.gpuInterval().toNanos(),
                state.rounds(),
                state.missed(),
                state.gpus().stream().map(this::describe).toList()));
    }

    private Footer.GpuInfo describe(GpuFacts gpu) {
        return new Footer.GpuInfo(
                gpu.index(),
                gpu.name(),
                gpu.uuid(),
                gpu.memoryTotal() == 0 ? null : Long.valueOf(gpu.memoryTotal()),
                gpu.lostNanos() == 0 ? null : Long.valueOf(gpu.lostNanos() + clockOffset),
                gpu.gaps().stream().map(GpuRows::describe).toList());
    }

    private static Footer.GpuGap describe(Gap gap) {
        return new Footer.GpuGap(gap.ofProcess() ? PROCESS : SAMPLE, gap.name(), gap.why(), gap.times());
    }
}
