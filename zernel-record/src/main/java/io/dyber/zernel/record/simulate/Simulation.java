package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.simulate.ClusterSimulation.Machine;
import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/// A PyTorch training on GPUs that never ran, as the probes would have recorded it. Needs no privilege.
///
/// The scenario's cause is planted as strongly as asked for, and the footer tells what it costs: the difference to the
/// same run, with the same chance, from which only that cause is taken out.
public final class Simulation {
    /// What to simulate. The seed changes everything but what the scenario plants.
    ///
    /// @param strength share of the step's time that the cause should cost
    /// @param events instead of `steps`, about so many events
    /// @param nvml whether the GPUs' driver was asked
    public record Settings(
            Scenario scenario, long seed, int steps, int ranks, double strength, OptionalLong events, boolean nvml) {
        public static final double STRENGTH = 0.3;
        public static final double MOST_STRENGTH = 0.8;

        public Settings {
            if (ranks < scenario.usualRanks() && ranks == 1) {
                throw new IllegalArgumentException(scenario.label() + " needs two ranks or more");
            }
            if (steps < 1 || ranks < 1 || !(strength > 0 && strength <= MOST_STRENGTH) || events.orElse(1) < 1) {
                throw new IllegalArgumentException(
                        "steps " + steps + ", ranks " + ranks + ", strength " + strength + ", events " + events);
            }
        }

        public Settings(Scenario scenario, long seed, int steps, int ranks) {
            this(scenario, seed, steps, ranks, STRENGTH, OptionalLong.empty(), true);
        }

        public Settings withSteps(int number) {
            return new Settings(scenario, seed, number, ranks, strength, OptionalLong.empty(), nvml);
        }

        public Settings withStrength(double share) {
            return new Settings(scenario, seed, steps, ranks, share, events, nvml);
        }

        public Settings withEvents(long number) {
            return new Settings(scenario, seed, steps, ranks, strength, OptionalLong.of(number), nvml);
        }

        public Settings withoutNvml() {
            return new Settings(scenario, seed, steps, ranks, strength, events, false);
        }
    }

    /// Where the recording goes.
    ///
    /// @param columns the event table, as for a real recording
    /// @param schemaJson the footer value `zernel.schema` of a real recording
    public record Target(
            Path output, List<Column> columns, String schemaJson, RecordingFile.Options options) {}

    /// What was written.
    ///
    /// @param notice a line about the earlier recording that was in its place
    public record Result(int steps, long events, long bytes, Optional<String> notice) {}

    /// A cause and how strong it was asked to be.
    record Strength(Scenario cause, double strength) {}

    /// What it costs: the mean step without it.
    ///
    /// @param amount that was planted
    /// @param shape the job as the ranks see it that have the cause
    /// @param place of a cause that only some ranks have
    record Cost(
            Scenario cause,
            double strength,
            double amount,
            long stepNanosWithout,
            JobParameters shape,
            Optional<PlacedCause> place) {}

    /// Causes that add up, because the program has to do with each of them itself. What a start of workers costs depends
    /// on how far ahead of the GPU the program is, and that on the other cause.
    private static final List<Scenario> MIXABLE = List.of(
            Scenario.SYNC_BOUND,
            Scenario.PAGEABLE_COPIES,
            Scenario.CHECKPOINT_STALL,
            Scenario.ALLOCATOR_CHURN);

    /// The same on jobs without a GPU.
    private static final List<Scenario> MIXABLE_WITHOUT_GPU =
            List.of(Scenario.GIL, Scenario.LOCK, Scenario.SLEEP_EACH_STEP, Scenario.LOG_FSYNC);

    /// 2026-01-01: a simulation does not depend on the day it runs.
    static final long START_NANOS = 1_767_225_600_000_000_000L;

    /// As many steps show what a cause costs.
    static final int CALIBRATION_STEPS = 100;

    /// Of two mixed causes, what the stronger one has of the strength.
    private static final double LARGER_PART = 0.6;

    private final Settings settings;
    private final List<Strength> strengths;
    private final Noise noise;
    private final JobParameters shape;
    private final InjectedCauses plant;

    private Simulation(Settings settings) {
        this.settings = settings;
        Noise chance = new Noise(settings.seed());
        this.strengths = strengths(settings, chance.of(3));
        this.noise = chance.of(2);
        Set<Scenario> causes = strengths.stream().map(Strength::cause).collect(Collectors.toSet());
        this.shape = JobParameters.draw(settings, causes, chance.of(1));
        this.plant = new Calibration(shape, noise, CALIBRATION_STEPS).plant(strengths, settings.steps());
    }

    /// Writes the recording. `options` are the command-line words that the footer quotes.
    public static Result record(Settings settings, Target target, List<String> options) {
        Simulation simulation = new Simulation(settings);
        if (settings.events().isPresent()) {
            int steps = simulation.steps(settings.events().getAsLong());
            simulation = new Simulation(settings.withSteps(steps));
        }
        return simulation.write(target, options);
    }

    static List<Strength> strengths(Settings settings, Noise noise) {
        Scenario scenario = settings.scenario();
        if (scenario == Scenario.HEALTHY) {
            return List.of();
        }
        if (scenario != Scenario.MIXED) {
            return List.of(new Strength(scenario, settings.strength()));
        }
        int first = noise.between(0, MIXABLE.size() - 1);
        int second = (first + noise.between(1, MIXABLE.size() - 1)) % MIXABLE.size();
        List<Scenario> mixable = noise.chance(0.5) ? MIXABLE : MIXABLE_WITHOUT_GPU;
        return List.of(
                new Strength(mixable.get(first), LARGER_PART * settings.strength()),
                new Strength(mixable.get(second), (1 - LARGER_PART) * settings.strength()));
    }

    private Result write(Target target, List<String> options) {
        int steps = settings.steps();
        StringDictionary texts = new StringDictionary();
        try (RecordingFile file = RecordingFile.create(target.output(), target.columns(), texts, target.options())) {
            Timeline timeline = Timeline.to(file, target.columns(), texts, 0);
            Training training = new Training(shape, plant, steps, timeline, noise).run();
            SimulationFooter footer =
                    new SimulationFooter(settings, shape, Machine.ALONE, training, costs(steps), timeline);
            file.finish(footer.values(target.schemaJson(), options));
            return new Result(steps, file.events(), file.bytes(), file.takeNotice());
        }
    }

    private List<Cost> costs(int steps) {
        Calibration model = new Calibration(shape, noise, steps);
        List<Cost> costs = new ArrayList<>();
        for (Strength asked : strengths) {
            Scenario cause = asked.cause();
            long without = model.stepNanos(plant.without(cause));
            costs.add(new Cost(cause, asked.strength(), plant.amount(cause), without, shape, Optional.empty()));
        }
        return costs;
    }

    private int steps(long events) {
        long few = events(20);
        long perStep = Math.max(1, (events(60) - few) / 40);
        return Math.clamp(20 + (events - few) / perStep, 1, 10_000_000);
    }

    private long events(int steps) {
        Timeline counted = Timeline.silent();
        Training _ = new Training(shape, plant, steps, counted, noise).run();
        return counted.events();
    }
}
