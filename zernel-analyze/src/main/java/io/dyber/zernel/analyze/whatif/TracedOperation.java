package io.dyber.zernel.analyze.whatif;

import java.util.Comparator;
import java.util.Set;

/// One row of an operation trace.
///
/// @param replica data-parallel rank
/// @param stage pipeline stage
/// @param rank of the job
/// @param type what it does, such as `forward-compute`
/// @param number of the operation among those of its type in a step and a stage, from 0, in the order they begin
/// @param chunk of the model on this stage, from 0; -1 where that means nothing
/// @param modelChunk of the whole model, from 0; -1 where that means nothing
/// @param begin on the GPU
/// @param end on the GPU
record TracedOperation(
        int replica, int stage, int rank, long step, String type, int number, int chunk, int modelChunk, double begin, double end) {
    static final String FORWARD = "forward-compute";
    static final String BACKWARD = "backward-compute";
    static final String GATHER = "params-all-gather";
    static final String SCATTER = "grads-reduce-scatter";
    static final String SEPARATE = "separate-grads-all-reduce";
    static final String NORM = "layernorm-grads-all-reduce";
    static final String EMBEDDING = "embedding-grads-all-reduce";
    static final String CLIP = "optimizer-clip-main-grad";
    static final String OPTIMIZER = "optimizer";
    static final String COLLECTION = "gc";

    static final Comparator<TracedOperation> IN_ORDER = Comparator.comparingDouble(TracedOperation::begin)
            .thenComparingInt(TracedOperation::number)
            .thenComparing(TracedOperation::type);

    private static final Set<String> COMMUNICATION = Set.of(
            "forward-send", "forward-recv", "backward-send", "backward-recv", GATHER, SCATTER, SEPARATE, NORM, EMBEDDING, CLIP);

    /// What it is called in a schedule, which all replicas and steps share.
    Slot slot() {
        return new Slot(type, number, stage);
    }

    record Slot(String type, int number, int stage) {}

    boolean computes() {
        return type.equals(FORWARD) || type.equals(BACKWARD);
    }

    boolean forward() {
        return type.startsWith("forward-");
    }

    boolean sends() {
        return type.endsWith("-send");
    }

    boolean pointToPoint() {
        return sends() || type.endsWith("-recv");
    }

    /// Whether peers' durations of this type have a median that means more than their mean.
    static boolean communicates(String type) {
        return COMMUNICATION.contains(type);
    }
}
