package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.simulate.ClusterSimulation.Cluster;
import io.dyber.zernel.record.simulate.PlacedCause;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/// On which machines `--simulate` has its ranks. Help only names these; the manual page describes them.
final class ClusterOptions {
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
                    + "--strength; repeatable")
    List<PlacedCause> causes = new ArrayList<>();

    @Option(
            names = "--length-spread",
            hidden = true,
            paramLabel = "SHARE",
            converter = Share.class,
            description = "with --per-node, by how much kernels take longer or shorter, from step to step and rank to rank, "
                    + "because sequences differ in length (default: 10%%)")
    OptionalDouble lengthSpread = OptionalDouble.empty();

    Cluster cluster(int ranksPerNode) {
        return new Cluster(ranksPerNode, lengthSpread.orElse(Cluster.LENGTH_SPREAD), causes);
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
