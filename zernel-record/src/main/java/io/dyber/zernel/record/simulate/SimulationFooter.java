package io.dyber.zernel.record.simulate;

import io.dyber.zernel.format.Version;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// The footer of a simulated recording. It has the keys of a real one, says `simulated`, lists no probe, and tells in
/// `zernel.simulation` what was planted and what came of it.
final class SimulationFooter {
    private static final String NO_NVML = "libnvidia-ml.so.1 is not installed";
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final List<String> PROBED = List.of(
            "region", "backward", "torch_alloc", "torch_free", "dist_wait", "cuda_launch", "cuda_copy", "cuda_sync",
            "gpu_alloc", "gpu_free", "nccl", "nccl_comm", "process", "io", "io_open", "wait", "sched", "gpu_sample",
            "gpu_process");

    private final Simulation.Settings settings;
    private final Shape shape;
    private final Plant plant;
    private final Training training;
    private final List<Simulation.Cost> costs;
    private final Timeline timeline;

    SimulationFooter(
            Simulation.Settings settings,
            Shape shape,
            Plant plant,
            Training training,
            List<Simulation.Cost> costs,
            Timeline timeline) {
        this.settings = settings;
        this.shape = shape;
        this.plant = plant;
        this.training = training;
        this.costs = costs;
        this.timeline = timeline;
    }

    Map<String, String> values(String schemaJson, List<String> options) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("zernel.format", "1");
        put(values, "zernel.recording", recording(options));
        put(values, "zernel.clock", map("source", "simulated", "offset_ns", 0, "error_ns", 0, "boot_id", ""));
        values.put("zernel.schema", schemaJson);
        put(values, "zernel.kinds", kinds());
        values.put("zernel.probes", "[]");
        put(values, "zernel.losses", map("rings", List.of(), "by_kind", Map.of(), "total", 0));
        put(values, "zernel.processes", processes());
        put(values, "zernel.launches", map("recorded", "all", "budget", null, "changes", List.of()));
        put(values, "zernel.gpus", gpus());
        put(values, "zernel.simulation", simulation());
        return values;
    }

    private Map<String, @Nullable Object> recording(List<String> options) {
        Map<String, @Nullable Object> value = map("version", Version.current(), "simulated", true, "host", "simulated", "kernel", "none");
        value.put("arch", "none");
        value.put("cpus", shape.cpus());
        value.put("command", command());
        value.put("options", options);
        value.put("started_ns", Simulation.START_NANOS);
        value.put("ended_ns", timeline.lastNanos());
        value.put("stop", training.collectives().missing().isPresent() ? "signal" : "command-exited");
        value.put("complete", true);
        value.put("incomplete_because", List.of());
        value.put("events", timeline.byKind().values().stream().mapToLong(Long::longValue).sum());
        return value;
    }

    private List<Map<String, @Nullable Object>> kinds() {
        List<Map<String, @Nullable Object>> kinds = new ArrayList<>();
        for (String kind : PROBED) {
            long events = timeline.byKind().getOrDefault(kind, 0L);
            boolean missing = kind.startsWith("gpu_") && !kind.endsWith("alloc") && !kind.endsWith("free") && !shape.nvml();
            kinds.add(map(
                    "kind", kind,
                    "state", missing ? "unavailable" : "attached",
                    "why", missing ? NO_NVML : "simulated",
                    "events", events));
        }
        kinds.add(map("kind", "call", "state", "off", "why", "not simulated", "events", 0));
        return kinds;
    }

    private List<Map<String, @Nullable Object>> processes() {
        List<Map<String, @Nullable Object>> processes = new ArrayList<>();
        for (Rank rank : training.ranks()) {
            processes.add(process(rank.main(), 1, rank.environment()));
            for (Actor worker : rank.loader().everStarted()) {
                processes.add(process(worker, rank.main().pid(), rank.environment()));
            }
        }
        return processes;
    }

    private Map<String, @Nullable Object> process(Actor actor, long parent, Map<String, String> environment) {
        Map<String, @Nullable Object> value = map("pid", actor.pid(), "ppid", parent, "comm", actor.comm());
        value.put("exe", "/usr/bin/python3");
        value.put("cmdline", command());
        value.put("environment", environment);
        value.put("started_ns", Simulation.START_NANOS);
        return value;
    }

    private static List<String> command() {
        return List.of("python3", "train.py");
    }

    private Map<String, @Nullable Object> gpus() {
        List<Map<String, @Nullable Object>> devices = new ArrayList<>();
        for (Rank rank : shape.nvml() ? training.ranks() : List.<Rank>of()) {
            Map<String, @Nullable Object> device = map("index", rank.gpu().device(), "name", "simulated GPU");
            device.put("uuid", "GPU-simulated-" + rank.gpu().device());
            device.put("memory_total", shape.memoryTotal());
            device.put("lost_ns", null);
            device.put("missing", List.of());
            devices.add(device);
        }
        Map<String, @Nullable Object> value = map("why", shape.nvml() ? "" : NO_NVML, "driver", shape.nvml() ? "simulated" : null, "interval_ns", NvmlClock.SECOND);
        value.put("missed_rounds", 0);
        value.put("devices", devices);
        return value;
    }

    /// What was planted, and what it costs a step of the first rank.
    private Map<String, @Nullable Object> simulation() {
        Scenario scenario = settings.scenario();
        Map<String, @Nullable Object> value = map("scenario", scenario.label(), "meaning", scenario.meaning());
        value.put("seed", settings.seed());
        value.put("strength", settings.strength());
        value.put("ranks", settings.ranks());
        value.put("steps", settings.steps());
        value.put("steps_per_epoch", shape.stepsPerEpoch());
        value.put("workers_per_rank", shape.workers());
        value.put("kernels_per_step", shape.kernels().count());
        value.put("gpu_ns", Math.round(shape.gpuNanos()));
        value.put("step_ns", training.stepNanos());
        Allocator allocator = training.ranks().getFirst().allocator();
        value.put("peak_bytes", allocator.peakDeviceBytes() + Shape.DRIVER_BYTES);
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
        switch (cost.cause()) {
            case STRAGGLER_RANK -> {
                value.put("late_rank", shape.straggler());
                value.put("reason", shape.stragglerReason().name().toLowerCase(Locale.ROOT));
            }
            case HANG -> {
                value.put("missing_rank", shape.straggler());
                OptionalLong missing = training.collectives().missing();
                value.put("missing_collective", missing.isPresent() ? missing.getAsLong() : null);
                value.put("comm_id", Collectives.COMM_ID);
            }
            case MEMORY_LEAK -> value.put("leak_bytes_per_step", bytesPerStep(cost.cause()));
            case FRAGMENTATION -> value.put("fragment_bytes_per_step", bytesPerStep(cost.cause()));
            default -> {}
        }
        return value;
    }

    private long bytesPerStep(Scenario cause) {
        return Math.round(plant.amount(cause));
    }

    private static void put(Map<String, String> values, String key, Object value) {
        values.put(key, JSON.writeValueAsString(value));
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
