package io.dyber.zernel.record.cli;

import java.util.Optional;
import java.util.OptionalDouble;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
}
