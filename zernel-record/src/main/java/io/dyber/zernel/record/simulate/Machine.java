package io.dyber.zernel.record.simulate;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.simulate.machine.Noise;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.UUID;

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
