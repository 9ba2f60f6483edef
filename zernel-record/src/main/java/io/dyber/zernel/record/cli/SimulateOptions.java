package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.simulate.ClusterSimulation.Cluster;
import io.dyber.zernel.record.simulate.PlacedCause;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/// What `--simulate` makes. Help only names these; the manual page describes them.
final class SimulateOptions {
    @Option(
            names = "--seed",
            hidden = true,
            paramLabel = "N",
            defaultValue = "1",
            description = "of the simulation (default: ${DEFAULT-VALUE})")
    long seed = 1;

    @Option(
            names = "--steps",
            hidden = true,
            paramLabel = "N",
            description = "to simulate (default: 200, and 50 with --per-node)")
    Optional<Integer> steps = Optional.empty();

    @Option(
            names = "--events",
            hidden = true,
            paramLabel = "N",
            description = "to simulate: instead of --steps, as many steps as make about so many events")
    Optional<Long> events = Optional.empty();

    @Option(
            names = "--ranks",
            hidden = true,
            paramLabel = "N",
            description = "to simulate (default: 1, and 4 where the scenario is about ranks)")
    Optional<Integer> ranks = Optional.empty();

    @Option(
            names = "--strength",
            hidden = true,
            paramLabel = "SHARE",
            converter = Share.class,
            description = "of the step's time that the simulated cause should cost, at most 80%% (default: 30%%)")
    OptionalDouble strength = OptionalDouble.empty();

    @Option(
            names = "--without-nvml",
            hidden = true,
            description = "simulate a machine whose GPU driver cannot be asked how busy its GPUs are")
    boolean withoutNvml;

    @Mixin
    ClusterOptions nodes = new ClusterOptions();

    /// On which machines `--simulate` has its ranks. Help only names these; the manual page describes them.
    static final class ClusterOptions {
        @Option(
                names = "--per-node",
                hidden = true,
                paramLabel = "N",
                description = "ranks of a simulated machine; a recording for each machine is written into the folder -o")
        Optional<Integer> perNode = Optional.empty();

        @Option(
                names = "--cause",
                hidden = true,
                paramLabel = "CAUSE@node=N",
                converter = PlacedCauseText.class,
                description = "with --per-node, what is wrong on one machine, or with one rank (CAUSE@rank=N), as strong as "
                        + "--strength; straggler-rank@rank=N,from=STEP begins later; repeatable")
        List<PlacedCause> causes = new ArrayList<>();

        @Option(
                names = "--length-spread",
                hidden = true,
                paramLabel = "SHARE",
                converter = Share.class,
                description = "with --per-node, by how much kernels take longer or shorter, from step to step and rank to rank, "
                        + "because sequences differ in length (default: 10%%)")
        OptionalDouble lengthSpread = OptionalDouble.empty();

        @Option(
                names = "--recorded-steps",
                hidden = true,
                paramLabel = "FROM-TO",
                converter = StepsText.class,
                description = "with --per-node, the steps that are recorded, from 0 and without the last: the job runs already, and "
                        + "goes on (default: all)")
        Optional<Cluster.Steps> recorded = Optional.empty();

        Cluster cluster(int ranksPerNode) {
            return new Cluster(
                    ranksPerNode, lengthSpread.orElse(Cluster.LENGTH_SPREAD), causes, recorded.orElse(Cluster.Steps.ALL));
        }

        /// `24-56`.
        static final class StepsText implements ITypeConverter<Cluster.Steps> {
            @Override
            public Cluster.Steps convert(String text) {
                String[] parts = text.split("-", 2);
                try {
                    return new Cluster.Steps(Integer.parseInt(parts[0]), Integer.parseInt(parts[parts.length - 1]));
                } catch (IllegalArgumentException _) {
                    throw new TypeConversionException("'" + text + "' is not FROM-TO");
                }
            }
        }

        /// `CAUSE@node=N`.
        static final class PlacedCauseText implements ITypeConverter<PlacedCause> {
            @Override
            public PlacedCause convert(String text) {
                try {
                    return PlacedCause.parse(text);
                } catch (IllegalArgumentException e) {
                    throw new TypeConversionException(e.getMessage());
                }
            }
        }
    }
}
