package io.dyber.zernel.record.rows;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.nvml.GpuFacts.Gap;
import io.dyber.zernel.record.nvml.GpuFacts;
import io.dyber.zernel.record.nvml.GpuSampler;
import io.dyber.zernel.record.nvml.GpuValue;
import io.dyber.zernel.record.option.RecordOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Turns what the GPU driver says into rows of the recording. Without a GPU there are none, and that is no error.
public final class GpuRows {
    static final String SAMPLE = "gpu_sample";
    static final String PROCESS = "gpu_process";
    public static final Set<String> KINDS = Set.of(SAMPLE, PROCESS);

    private final RecordOptions options;
    private final EventWriter writer;
    private final Optional<GpuSampler> sampler;
    private volatile boolean stuck;

    public GpuRows(RecordOptions options, EventWriter writer) {
        this.options = options;
        this.writer = writer;
        boolean samples = options.kinds().contains(SAMPLE);
        boolean processes = options.kinds().contains(PROCESS);
        this.sampler = (samples || processes) && !options.gpuInterval().isZero()
                ? Optional.of(new GpuSampler(
                        options.gpuInterval(), samples, processes, Clock::monotonicNanos, this::take))
                : Optional.empty();
    }

    public void start() {
        sampler.ifPresent(GpuSampler::start);
    }

    /// Waits a moment for the driver, not longer.
    public void stop() {
        stuck = sampler.isPresent() && !sampler.get().stop();
    }

    private void take(List<GpuValue> values) {
        Map<Integer, String> comms = new HashMap<>();
        writer.write(values.stream().map(found -> event(found, comms)).toList());
    }

    private EventWriter.NewEvent event(GpuValue found, Map<Integer, String> comms) {
        EventWriter.NewEvent event = writer.event(
                        found.ofProcess() ? PROCESS : SAMPLE, found.name(), writer.epochNanos(found.nanos()))
                .with("device", found.device())
                .with("value", found.value())
                .with("unit", found.unit())
                .with("object", found.instance());
        if (found.ofProcess()) {
            event.with("pid", found.pid()).with("comm", comms.computeIfAbsent(found.pid(), GpuRows::comm));
        }
        return event;
    }

    private static String comm(int process) {
        try {
            return Files.readString(Path.of("/proc", Integer.toString(process), "comm")).strip();
        } catch (IOException _) {
            return "";
        }
    }

    /// Why there are no GPUs; empty when there are, or when that is not known yet.
    public String unavailable() {
        return sampler.map(found -> found.state().unavailable()).orElse("");
    }

    public boolean isSampling() {
        return sampler.isPresent() && sampler.get().state().isSampling();
    }

    /// What went wrong since the last call, one line each.
    public List<String> notices() {
        List<String> lines = new ArrayList<>();
        sampler.ifPresent(found -> {
            for (Optional<String> line = found.takeNotice(); line.isPresent(); line = found.takeNotice()) {
                lines.add(line.get());
            }
        });
        return lines;
    }

    /// The footer's `zernel.gpus`.
    public Optional<Footer.GpuSampling> describe() {
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
                gpu.pci().isEmpty() ? null : gpu.pci(),
                gpu.memoryTotal() == 0 ? null : Long.valueOf(gpu.memoryTotal()),
                gpu.pcieGeneration() == 0 ? null : Integer.valueOf(gpu.pcieGeneration()),
                gpu.pcieWidth() == 0 ? null : Integer.valueOf(gpu.pcieWidth()),
                gpu.lostNanos() == 0 ? null : Long.valueOf(writer.epochNanos(gpu.lostNanos())),
                gpu.gaps().stream().map(GpuRows::describe).toList());
    }

    private static Footer.GpuGap describe(Gap gap) {
        return new Footer.GpuGap(gap.ofProcess() ? PROCESS : SAMPLE, gap.name(), gap.why(), gap.times());
    }
}
