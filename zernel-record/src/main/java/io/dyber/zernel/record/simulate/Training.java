package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.simulate.Collectives.Meetings;
import io.dyber.zernel.record.simulate.Rank.Member;
import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// The model of a training job on GPUs, run from start to end.
///
/// Every actor has a clock of its own, and waits only for what others have already done: a batch for its worker, a launch
/// for room in the GPU's queue, a collective for the last rank. So the ranks are run one after the other from collective
/// to collective, and no event is ever ahead of its cause.
final class Training {
    private static final long FIRST_PID = 4001;
    private static final long PIDS_OF_RANK = 10_000;
    /// How long a job that hangs is recorded before the recording is ended.
    static final long HANG_NANOS = 32_000_000_000L;

    private static final double BACKWARD_SHARE = 0.6;
    private static final double LEAST_COMM_SHARE = 1e-3;

    private final int steps;
    private final Timeline timeline;
    private final Collectives collectives;
    private final Optional<Meetings> known;
    private final List<Rank> ranks = new ArrayList<>();
    private final NvmlClock nvml;
    private long startNanos;

    Training(JobParameters shape, InjectedCauses plant, int steps, Timeline timeline, Noise noise) {
        this(shape, plant, membersOfOneMachine(shape, plant), steps, timeline, noise, noise.of(1), Optional.empty());
    }

    /// Some ranks of a job, or all.
    ///
    /// @param plant what is wrong with all ranks
    /// @param known of a run of all ranks, where these are some
    Training(
            JobParameters shape,
            InjectedCauses plant,
            List<Member> members,
            int steps,
            Timeline timeline,
            Noise noise,
            Noise sampling,
            Optional<Meetings> known) {
        this.steps = steps;
        this.timeline = timeline;
        this.known = known;
        double travelled = 2.0 * (shape.ranks() - 1) / shape.ranks() * shape.modelBytes();
        double share = plant.has(Scenario.COMM_BOUND)
                ? plant.amount(Scenario.COMM_BOUND)
                : shape.commShare() + plant.amount(Scenario.COMM_OVERLAPPED);
        double comm = Math.max(share, LEAST_COMM_SHARE) * BACKWARD_SHARE * shape.gpuNanos();
        this.collectives = new Collectives(shape.ranks(), noise.of(0), shape.latencyNanos(), travelled / comm, known);
        for (Member member : members) {
            long pid = FIRST_PID + member.local() * PIDS_OF_RANK;
            ranks.add(new Rank(member, steps, collectives, timeline, noise.of(10 + member.rank()), pid));
        }
        this.nvml = new NvmlClock(shape.nvml(), shape, timeline, ranks, sampling);
    }

    private static List<Member> membersOfOneMachine(JobParameters shape, InjectedCauses plant) {
        return IntStream.range(0, shape.ranks())
                .mapToObj(rank -> new Member(rank, rank, shape, plant, 0, 0))
                .toList();
    }

    /// Runs all of it.
    Training run() {
        ranks.forEach(Rank::start);
        startNanos = known.map(Meetings::startNanos)
                .orElseGet(() -> ranks.stream().mapToLong(Rank::now).max().orElse(0));
        ranks.forEach(rank -> rank.startTogether(startNanos));
        collectives.run();
        ranks.forEach(Rank::passBarrier);
        for (int step = 0; step < steps; step++) {
            for (Rank rank : ranks) {
                rank.beginStep(step);
            }
            collectives.run();
            for (Rank rank : ranks) {
                rank.endStep(step);
            }
            nvml.note();
        }
        ranks.forEach(Rank::exit);
        if (collectives.missing().isPresent()) {
            timeline.waitUntil(ranks.stream().mapToLong(Rank::now).max().orElse(0) + HANG_NANOS);
        }
        nvml.write();
        timeline.finish();
        return this;
    }

    /// Mean length of the steps after the first, of the job's first rank.
    long stepNanos() {
        return known.map(Meetings::stepNanos).orElseGet(ranks.getFirst()::stepNanos);
    }

    Meetings meetings() {
        return new Meetings(startNanos, collectives.ends(), collectives.missing(), stepNanos());
    }

    Collectives collectives() {
        return collectives;
    }

    List<Rank> ranks() {
        return ranks;
    }
}
