package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.Texts;
import io.dyber.zernel.record.sink.RecordingFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A PyTorch training that never ran, as the probes would have recorded it. Needs no privilege.
///
/// The model: each rank's DataLoader has workers that load batches in turn, at most `prefetch_factor` per worker ahead;
/// the main thread takes a batch, computes, waits for the other ranks in the backward pass, and steps the optimizer.
/// The waits for data are not drawn but follow from that.
public final class Simulation {
    /// What to simulate. The seed changes everything but what the scenario plants.
    public record Settings(Scenario scenario, long seed, int steps, int ranks) {
        public Settings {
            if (steps < 1 || ranks < 1) {
                throw new IllegalArgumentException("steps " + steps + ", ranks " + ranks);
            }
        }
    }

    /// Where the recording goes.
    ///
    /// @param columns the event table, as for a real recording
    /// @param schemaJson the footer value `zernel.schema` of a real recording
    public record Target(
            Path output, List<Column> columns, String schemaJson, RecordingFile.Options options) {}

    /// What was written.
    public record Result(long events, long bytes) {}

    /// 2026-01-01: a simulation does not depend on the day it runs.
    static final long START_NANOS = 1_767_225_600_000_000_000L;

    private static final long FIRST_PID = 4001;

    private final Job job;
    private final Timeline timeline;
    private final List<Trainer> trainers = new ArrayList<>();
    private final Noise noise;

    private Simulation(Settings settings, Timeline timeline) {
        this.noise = new Noise(settings.seed());
        this.job = Job.draw(settings, noise);
        this.timeline = timeline;
        for (int rank = 0; rank < job.ranks(); rank++) {
            long pid = FIRST_PID + rank * Trainer.pidsNeeded(job);
            long start = START_NANOS + noise.around(30e6, 0.5);
            trainers.add(new Trainer(job, timeline, noise.split(), pid, start));
        }
    }

    /// Writes the recording. `options` are the command-line words that the footer quotes.
    public static Result record(Settings settings, Target target, List<String> options) {
        Texts texts = new Texts();
        try (RecordingFile file = RecordingFile.create(target.output(), target.columns(), texts, target.options())) {
            Timeline timeline = new Timeline(file, target.columns(), texts);
            Simulation simulation = new Simulation(settings, timeline);
            simulation.run();
            SimulationFooter footer =
                    new SimulationFooter(settings, simulation.job, simulation.trainers, timeline);
            file.finish(footer.values(target.schemaJson(), options));
            return new Result(file.events(), file.bytes());
        }
    }

    private void run() {
        for (int step = 0; step < job.steps(); step++) {
            step(step);
            timeline.writeUntil(trainers.stream().mapToLong(Trainer::nowNanos).min().orElse(0));
        }
        trainers.forEach(Trainer::exit);
        timeline.finish();
    }

    /// The gradients are complete when the slowest rank has its own, and have then travelled.
    private void step(int step) {
        long[] ends = new long[trainers.size()];
        long last = 0;
        for (int rank = 0; rank < ends.length; rank++) {
            ends[rank] = trainers.get(rank).beginStep(step);
            last = Math.max(last, ends[rank]);
        }
        long together = last + noise.around(job.computeNanos() * 0.02, 0.2);
        for (int rank = 0; rank < ends.length; rank++) {
            trainers.get(rank).endStep(ends.length > 1 ? together : ends[rank]);
        }
    }
}
