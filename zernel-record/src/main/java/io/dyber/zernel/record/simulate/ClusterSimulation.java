package io.dyber.zernel.record.simulate;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.simulate.Collectives.Meetings;
import io.dyber.zernel.record.simulate.Rank.Member;
import io.dyber.zernel.record.simulate.machine.Noise;
import io.dyber.zernel.record.simulate.machine.Timeline;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/// A training on many machines that never ran: a recording for each of them.
///
/// First all ranks run and write nothing; what is kept of that is when they met. Then the ranks of one machine after the
/// other run and are written, and wait for all others until then. So what it takes of memory is a state for each rank, and
/// the events of one machine.
public final class ClusterSimulation {
    /// What a job on many machines has beside [Simulation.Settings].
    ///
    /// @param ranksPerNode ranks of a machine; the last one may have fewer
    /// @param lengthSpread how much the time of kernels differs between ranks and steps, because sequences differ in length
    /// @param causes of some ranks, each as strong as the settings say
    /// @param recorded the steps that are recorded
    public record Cluster(int ranksPerNode, double lengthSpread, List<PlacedCause> causes, Steps recorded) {
        public static final double LENGTH_SPREAD = 0.1;

        /// Steps of a job, from 0.
        ///
        /// @param until the first that is not recorded
        public record Steps(int from, int until) {
            public static final Steps ALL = new Steps(0, Integer.MAX_VALUE);

            public Steps {
                if (from < 0 || until <= from) {
                    throw new IllegalArgumentException("steps from " + from + " to " + until);
                }
            }

            void of(int steps, Meetings meetings, Timeline timeline) {
                if (from > 0 || until < steps) {
                    timeline.only(
                            from == 0 ? Long.MIN_VALUE : meetings.stepNanos(Math.min(from, steps - 1), steps),
                            until >= steps ? Long.MAX_VALUE : meetings.stepNanos(until, steps));
                }
            }
        }

        public Cluster(int ranksPerNode, double lengthSpread, List<PlacedCause> causes) {
            this(ranksPerNode, lengthSpread, causes, Steps.ALL);
        }

        public Cluster {
            causes = List.copyOf(causes);
            if (ranksPerNode < 1 || lengthSpread < 0 || lengthSpread >= 1) {
                throw new IllegalArgumentException(
                        "ranks per node " + ranksPerNode + ", spread of lengths " + lengthSpread);
            }
        }

        int nodes(int ranks) {
            return Math.ceilDiv(ranks, ranksPerNode);
        }
    }

    /// Ranks in which what a cause costs is tried: more behave as these do.
    private static final int MODEL_RANKS = 4;

    private static final int FEWEST_STEPS = 20;

    /// A cause, where it is, and what is planted there.
    private record Planted(PlacedCause place, JobParameters shape, double amount, double lostShare) {}

    private final Simulation.Settings settings;
    private final Cluster cluster;
    private final Noise chance;
    private final Noise noise;
    private final JobParameters shape;
    private final List<Simulation.Strength> strengths;
    private final InjectedCauses plant;
    private final Calibration model;
    private final List<Planted> planted;

    private ClusterSimulation(Simulation.Settings settings, Cluster cluster) {
        this.settings = settings;
        this.cluster = cluster;
        this.chance = new Noise(settings.seed());
        this.noise = chance.of(2);
        this.strengths = Simulation.strengths(settings, chance.of(3));
        Set<Scenario> causes = EnumSet.noneOf(Scenario.class);
        strengths.forEach(strength -> causes.add(strength.cause()));
        cluster.causes().forEach(place -> causes.add(place.cause()));
        JobParameters whole = JobParameters.draw(settings, causes, chance.of(1));
        int cpus = whole.cpus() / settings.ranks() * Math.min(settings.ranks(), cluster.ranksPerNode());
        this.shape = whole.ofRanks(settings.ranks(), cpus);
        this.model = model(shape);
        this.plant = model.plant(strengths, settings.steps());
        this.planted = IntStream.range(0, cluster.causes().size()).mapToObj(this::planted).toList();
    }

    /// Writes a recording for each machine into a folder, `target.output()`; `written` is told of each.
    public static void record(
            Simulation.Settings settings,
            Cluster cluster,
            Simulation.Target target,
            List<String> options,
            Consumer<Simulation.Result> written) {
        ClusterSimulation simulation = new ClusterSimulation(settings, cluster);
        Meetings meetings = simulation.meetings();
        List<Simulation.Cost> costs = simulation.costs(meetings.stepNanos());
        for (int node = 0; node < cluster.nodes(settings.ranks()); node++) {
            written.accept(simulation.write(node, meetings, costs, target, options));
        }
    }

    private Calibration model(JobParameters of) {
        JobParameters small = of.ofRanks(Math.min(MODEL_RANKS, settings.ranks()), of.cpus());
        int steps = Math.clamp(settings.steps(), FEWEST_STEPS, Simulation.CALIBRATION_STEPS);
        return new Calibration(small, noise, steps);
    }

    private Planted planted(int index) {
        PlacedCause place = cluster.causes().get(index);
        Scenario cause = place.cause();
        Noise draw = chance.of(100 + index);
        int rank = place.firstRank(cluster.ranksPerNode());
        int last = Math.min(rank + place.ranks(cluster.ranksPerNode()), settings.ranks()) - 1;
        int late = draw.between(rank, last);
        RankSlowdown.Reason[] reasons = RankSlowdown.Reason.values();
        RankSlowdown.Reason reason = reasons[draw.between(0, reasons.length - 1)];
        Calibration calibration = model(shape.withStraggler(0, reason));
        InjectedCauses with = calibration.plant(
                List.of(new Simulation.Strength(cause, settings.strength())), settings.steps());
        double lost = cause.costsTime() ? calibration.lostShare(with, cause) : 0;
        return new Planted(place, shape.withStraggler(late, reason), with.size(cause), lost);
    }

    /// When all ranks met.
    private Meetings meetings() {
        return training(members(0, settings.ranks()), Timeline.silent(), noise.of(1), Optional.empty())
                .run()
                .meetings();
    }

    private Training training(List<Member> members, Timeline timeline, Noise sampling, Optional<Meetings> known) {
        return new Training(shape, plant, members, settings.steps(), timeline, noise, sampling, known);
    }

    private List<Member> members(int from, int until) {
        return IntStream.range(from, until).mapToObj(this::member).toList();
    }

    private Member member(int rank) {
        JobParameters own = shape;
        InjectedCauses causes = plant;
        int lateFrom = 0;
        for (Planted one : planted) {
            int first = one.place().firstRank(cluster.ranksPerNode());
            if (rank >= first && rank < first + one.place().ranks(cluster.ranksPerNode())) {
                own = one.place().cause().isOfStraggler() ? one.shape() : own;
                lateFrom = Math.max(lateFrom, one.place().from());
                causes = causes.with(one.place().cause(), one.amount());
            }
        }
        return new Member(rank, rank % cluster.ranksPerNode(), own, causes, cluster.lengthSpread(), lateFrom);
    }

    private Simulation.Result write(
            int node, Meetings meetings, List<Simulation.Cost> costs, Simulation.Target target, List<String> options) {
        Path output = target.output().resolve(Machine.name(node) + ".parquet");
        Machine machine = Machine.of(node, chance.of(4).of(node));
        int first = node * cluster.ranksPerNode();
        List<Member> members = members(first, Math.min(first + cluster.ranksPerNode(), settings.ranks()));
        StringDictionary texts = new StringDictionary();
        try (RecordingFile file = RecordingFile.create(output, target.columns(), texts, target.options())) {
            Timeline timeline = Timeline.to(file, target.columns(), texts, machine.clockNanos());
            cluster.recorded().of(settings.steps(), meetings, timeline);
            Training training = training(members, timeline, noise.of(1).of(node), Optional.of(meetings)).run();
            SimulationFooter footer = new SimulationFooter(settings, shape, machine, training, costs, timeline);
            file.finish(footer.values(target.schemaJson(), options));
            return new Simulation.Result(settings.steps(), file.events(), file.bytes(), file.takeNotice());
        }
    }

    /// What a cause costs alone, as it was tried with few ranks.
    private List<Simulation.Cost> costs(long stepNanos) {
        List<Simulation.Cost> costs = new ArrayList<>();
        for (Simulation.Strength asked : strengths) {
            Scenario cause = asked.cause();
            double lost = cause.costsTime() ? model.lostShare(plant, cause) : 0;
            long without = Math.round((1 - lost) * stepNanos);
            costs.add(new Simulation.Cost(cause, asked.strength(), plant.amount(cause), without, shape, Optional.empty()));
        }
        for (Planted one : planted) {
            long without = Math.round((1 - one.lostShare()) * stepNanos);
            costs.add(new Simulation.Cost(
                    one.place().cause(), settings.strength(), one.amount(), without, one.shape(), Optional.of(one.place())));
        }
        return costs;
    }

    /// A simulated machine: its name, and its clock, which is not quite right.
    ///
    /// @param node its number in the job; empty where it is the only one
    /// @param clockNanos by which its time of day is ahead
    /// @param bootNanos when it started, by that time
    record Machine(String host, OptionalInt node, long clockNanos, long bootNanos) {
        /// Of clocks that NTP disciplines badly.
        private static final double MOST_CLOCK_NANOS = 5e6;

        private static final long CLOCK_ERROR_NANOS = 1_000;
        private static final double UPTIME_NANOS = 10 * 86_400e9;

        static final Machine ALONE = new Machine("simulated", OptionalInt.empty(), 0, 0);

        static Machine of(int node, Noise noise) {
            long ahead = Math.round(noise.between(-MOST_CLOCK_NANOS, MOST_CLOCK_NANOS));
            long boot = Simulation.START_NANOS - Math.round(noise.between(0.1, 1.0) * UPTIME_NANOS);
            return new Machine(name(node), OptionalInt.of(node), ahead, boot);
        }

        static String name(int node) {
            return "node%04d".formatted(node);
        }

        long startedNanos() {
            return Simulation.START_NANOS + clockNanos;
        }

        Footer.Clock clock() {
            if (node.isEmpty()) {
                return new Footer.Clock("simulated", 0, 0, "", null, null);
            }
            String boot = UUID.nameUUIDFromBytes((host + " " + bootNanos).getBytes(StandardCharsets.UTF_8)).toString();
            return new Footer.Clock("simulated", bootNanos + clockNanos, CLOCK_ERROR_NANOS, boot, null, null);
        }
    }
}
