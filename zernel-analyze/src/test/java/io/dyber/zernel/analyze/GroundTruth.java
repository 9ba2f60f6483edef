package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.recording.Recording;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What the simulator planted in a recording, and what it cost. Findings must not read this.
///
/// @param stepNanos mean step
/// @param causes in the order of their cost
@NullMarked
record GroundTruth(double stepNanos, List<Cause> causes) {

    /// @param lostNanos what a step would lose in length without this cause; null where it costs no time
    /// @param all everything that is known of it
    record Cause(String label, @Nullable Double lostNanos, double stepWithoutNanos, JsonNode all) {
        double gain(GroundTruth truth) {
            return truth.stepNanos() / stepWithoutNanos;
        }

        double share(GroundTruth truth) {
            return lostNanos == null ? 0 : lostNanos / truth.stepNanos();
        }
    }

    static GroundTruth of(Recording recording) {
        JsonNode simulation = JsonMapper.shared().readTree(recording.metadata().get("zernel.simulation"));
        double stepNanos = simulation.get("step_ns").asDouble();
        List<Cause> causes = new ArrayList<>();
        for (JsonNode cause : simulation.path("causes")) {
            JsonNode lost = cause.path("lost_ns");
            causes.add(new Cause(
                    cause.get("cause").asString(),
                    lost.isNumber() ? lost.asDouble() : null,
                    cause.path("step_ns_without").asDouble(stepNanos),
                    cause));
        }
        causes.sort((a, b) -> Double.compare(cost(b), cost(a)));
        return new GroundTruth(stepNanos, List.copyOf(causes));
    }

    private static double cost(Cause cause) {
        return cause.lostNanos() == null ? 0 : cause.lostNanos();
    }
}
