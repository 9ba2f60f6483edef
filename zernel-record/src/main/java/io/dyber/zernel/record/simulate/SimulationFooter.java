package io.dyber.zernel.record.simulate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/// The footer of a simulated recording. It has the keys of a real one, says `simulated`, lists no probe, and tells in
/// `zernel.simulation` what was planted and what came of it.
final class SimulationFooter {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final List<String> PROBED = List.of("region", "backward", "process", "io", "wait");

    private final Simulation.Settings settings;
    private final Job job;
    private final List<Trainer> trainers;
    private final Timeline timeline;

    SimulationFooter(Simulation.Settings settings, Job job, List<Trainer> trainers, Timeline timeline) {
        this.settings = settings;
        this.job = job;
        this.trainers = trainers;
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
        put(values, "zernel.simulation", simulation());
        return values;
    }

    private Map<String, Object> recording(List<String> options) {
        Map<String, Object> value = map("version", version(), "simulated", true, "host", "simulated", "kernel", "none");
        value.put("arch", "none");
        value.put("cpus", job.cpus());
        value.put("command", command());
        value.put("options", options);
        value.put("started_ns", Simulation.START_NANOS);
        value.put("ended_ns", timeline.lastNanos());
        value.put("stop", "command-exited");
        value.put("complete", true);
        value.put("incomplete_because", List.of());
        value.put("events", timeline.byKind().values().stream().mapToLong(Long::longValue).sum());
        return value;
    }

    private List<Map<String, Object>> kinds() {
        List<Map<String, Object>> kinds = new ArrayList<>();
        for (String kind : PROBED) {
            long events = timeline.byKind().getOrDefault(kind, 0L);
            kinds.add(map("kind", kind, "state", "attached", "why", "simulated", "events", events));
        }
        kinds.add(map("kind", "call", "state", "off", "why", "not simulated", "events", 0));
        return kinds;
    }

    private List<Map<String, Object>> processes() {
        List<Map<String, Object>> processes = new ArrayList<>();
        for (Trainer trainer : trainers) {
            processes.add(process(trainer.main(), 1));
            trainer.workers().forEach(worker -> processes.add(process(worker.main(), trainer.main().pid())));
        }
        return processes;
    }

    private Map<String, Object> process(Actor actor, long parent) {
        Map<String, Object> value = map("pid", actor.pid(), "ppid", parent, "comm", actor.comm());
        value.put("exe", "/usr/bin/python3");
        value.put("cmdline", command());
        return value;
    }

    private static List<String> command() {
        return List.of("python3", "train.py");
    }

    /// Planted means, and what they led to, per step of the first rank.
    private Map<String, Object> simulation() {
        Trainer first = trainers.getFirst();
        Scenario scenario = settings.scenario();
        Map<String, Object> value = map("scenario", scenario.label(), "meaning", scenario.meaning());
        value.put("seed", settings.seed());
        value.put("ranks", job.ranks());
        value.put("steps", job.steps());
        value.put("steps_per_epoch", job.stepsPerEpoch());
        value.put("workers_per_rank", job.workers());
        value.put("prefetch_factor", job.prefetchFactor());
        value.put("batch_size", job.batchSize());
        value.put("planted_compute_ns", job.computeNanos());
        value.put("planted_load_ns", job.loadNanos());
        value.put("planted_reading_share", job.readingShare());
        value.put("step_ns", first.trainingNanos() / job.steps());
        value.put("data_wait_ns", first.dataWaitNanos() / job.steps());
        value.put("data_wait_share", (double) first.dataWaitNanos() / first.trainingNanos());
        return value;
    }

    private static String version() {
        String version = SimulationFooter.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    private static void put(Map<String, String> values, String key, Object value) {
        values.put(key, JSON.writeValueAsString(value));
    }

    /// Names and values in turn; Java's own map would lose their order.
    private static Map<String, Object> map(Object... namesAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return map;
    }
}
