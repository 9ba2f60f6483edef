package io.dyber.zernel.record.simulate;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.FooterValues;
import io.dyber.zernel.format.Version;
import io.dyber.zernel.record.simulate.ClusterSimulation.Machine;
import io.dyber.zernel.record.simulate.machine.Actor;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/// The footer of a simulated recording. It has the keys of a real one, says `simulated`, lists no probe, and tells in
/// `zernel.simulation` what was planted and what came of it.
final class SimulationFooter {
    private static final String NO_NVML = "libnvidia-ml.so.1 is not installed";
    private static final List<String> PROBED = List.of(
            "region", "backward", "torch_alloc", "torch_free", "dist_wait", "cuda_launch", "cuda_copy", "cuda_sync",
            "gpu_alloc", "gpu_free", "nccl", "nccl_comm", "process", "io", "io_open", "wait", "sched", "gpu_sample",
            "gpu_process");

    private final Simulation.Settings settings;
    private final JobParameters shape;
    private final Machine machine;
    private final Training training;
    private final List<Simulation.Cost> costs;
    private final Timeline timeline;

    SimulationFooter(
            Simulation.Settings settings,
            JobParameters shape,
            Machine machine,
            Training training,
            List<Simulation.Cost> costs,
            Timeline timeline) {
        this.settings = settings;
        this.shape = shape;
        this.machine = machine;
        this.training = training;
        this.costs = costs;
        this.timeline = timeline;
    }

    /// @param schemaJson of the columns, as a real recording has it
    Map<String, String> values(String schemaJson, List<String> options) {
        Map<String, String> values = new LinkedHashMap<>(new FooterValues()
                .put(Footer.RECORDING, recording(options))
                .put(Footer.CLOCK, machine.clock())
                .put(Footer.KINDS, kinds())
                .put(Footer.PROBES, List.of())
                .put(Footer.LOSSES, new Footer.Losses(List.of(), Map.of(), 0, null))
                .put(Footer.PROCESSES, processes())
                .put(Footer.DETAIL, new Footer.Detail("all", "all", null, null, Footer.DETAIL_KINDS, null))
                .put(Footer.GPUS, gpus())
                .put(Footer.SIMULATION, simulation())
                .values());
        values.put(Footer.SCHEMA, schemaJson);
        return values;
    }

    private Footer.About recording(List<String> options) {
        return new Footer.About(
                new Footer.Machine(Version.current(), machine.host(), "none", "none", shape.cpus()),
                true,
                null,
                command(),
                null,
                null,
                options,
                null,
                Math.max(Simulation.START_NANOS, timeline.fromNanos()) + machine.clockNanos(),
                timeline.lastNanos() + machine.clockNanos(),
                training.collectives().missing().isPresent() ? "signal" : "command-exited",
                null,
                true,
                List.of(),
                timeline.byKind().values().stream().mapToLong(Long::longValue).sum(),
                null,
                null);
    }

    private List<Footer.KindState> kinds() {
        List<Footer.KindState> kinds = new ArrayList<>();
        for (String kind : PROBED) {
            boolean missing = kind.startsWith("gpu_") && !kind.endsWith("alloc") && !kind.endsWith("free") && !shape.nvml();
            kinds.add(kind(
                    kind,
                    missing ? "unavailable" : "attached",
                    missing ? NO_NVML : "simulated",
                    timeline.byKind().getOrDefault(kind, 0L)));
        }
        kinds.add(kind("call", "off", "not simulated", 0));
        return kinds;
    }

    private static Footer.KindState kind(String kind, String state, String why, long events) {
        return new Footer.KindState(kind, state, why, events, null, null, null, null);
    }

    private List<Footer.ProcessInfo> processes() {
        List<Footer.ProcessInfo> processes = new ArrayList<>();
        for (Rank rank : training.ranks()) {
            processes.add(process(rank.main(), 1, rank.environment()));
            for (Actor worker : rank.loader().everStarted()) {
                processes.add(process(worker, rank.main().pid(), rank.environment()));
            }
        }
        return processes;
    }

    private Footer.ProcessInfo process(Actor actor, long parent, Map<String, String> environment) {
        return new Footer.ProcessInfo(
                actor.pid(),
                parent,
                actor.comm(),
                "/usr/bin/python3",
                command(),
                null,
                null,
                environment,
                null,
                null,
                machine.startedNanos(),
                null,
                null);
    }

    private static List<String> command() {
        return List.of("python3", "train.py");
    }

    private Footer.GpuSampling gpus() {
        List<Footer.GpuInfo> devices = new ArrayList<>();
        for (Rank rank : shape.nvml() ? training.ranks() : List.<Rank>of()) {
            int device = rank.gpu().device();
            devices.add(new Footer.GpuInfo(
                    device, "simulated GPU", gpuUuid(device), null, shape.memoryTotal(), null, null, null, List.of()));
        }
        return new Footer.GpuSampling(
                shape.nvml() ? "" : NO_NVML, shape.nvml() ? "simulated" : null, NvmlClock.SECOND, null, 0, devices);
    }

    private String gpuUuid(int device) {
        return "GPU-" + machine.host() + "-" + device;
    }

    /// What was planted, and what it costs a step of the first rank.
    private Map<String, @Nullable Object> simulation() {
        Scenario scenario = settings.scenario();
        Map<String, @Nullable Object> value = map("scenario", scenario.label(), "meaning", scenario.meaning());
        value.put("seed", settings.seed());
        value.put("strength", settings.strength());
        value.put("ranks", settings.ranks());
        value.put("node", machine.node().isPresent() ? machine.node().getAsInt() : null);
        value.put("clock_ns", machine.clockNanos());
        value.put("steps", settings.steps());
        value.put("steps_per_epoch", shape.stepsPerEpoch());
        value.put("workers_per_rank", shape.workers());
        value.put("kernels_per_step", shape.kernels().count());
        value.put("gpu_ns", Math.round(shape.gpuNanos()));
        value.put("step_ns", training.stepNanos());
        Allocator allocator = training.ranks().getFirst().allocator();
        value.put("peak_bytes", allocator.peakDeviceBytes() + JobParameters.DRIVER_BYTES);
        value.put("peak_allocated_bytes", allocator.peakAllocatedBytes());
        value.put("memory_total", shape.memoryTotal());
        value.put("causes", costs.stream().map(this::cause).toList());
        return value;
    }

    private Map<String, @Nullable Object> cause(Simulation.Cost cost) {
        long lost = training.stepNanos() - cost.stepNanosWithout();
        Map<String, @Nullable Object> value = map("cause", cost.cause().label(), "strength", cost.strength());
        value.put("lost_ns", cost.cause().costsTime() ? lost : null);
        value.put("lost_share", cost.cause().costsTime() ? (double) lost / Math.max(1, training.stepNanos()) : null);
        value.put("step_ns_without", cost.stepNanosWithout());
        cost.place().ifPresent(place -> value.put("place", place.toString()));
        switch (cost.cause()) {
            case STRAGGLER_RANK -> {
                value.put("late_rank", cost.shape().straggler());
                value.put("reason", cost.shape().stragglerReason().name().toLowerCase(Locale.ROOT));
            }
            case HANG -> {
                value.put("missing_rank", cost.shape().straggler());
                OptionalLong missing = training.collectives().missing();
                value.put("missing_collective", missing.isPresent() ? missing.getAsLong() : null);
                value.put("comm_id", Collectives.COMM_ID);
            }
            case MEMORY_LEAK -> value.put("leak_bytes_per_step", Math.round(cost.amount()));
            case FRAGMENTATION -> value.put("fragment_bytes_per_step", Math.round(cost.amount()));
            default -> {}
        }
        return value;
    }

    /// Names and values in turn; Java's own map would lose their order.
    private static Map<String, @Nullable Object> map(@Nullable Object... namesAndValues) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return map;
    }
}
