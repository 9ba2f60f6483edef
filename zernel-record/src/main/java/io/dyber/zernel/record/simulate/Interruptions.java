package io.dyber.zernel.record.simulate;

/// How often a thread loses its CPU to another process, and for how long.
///
/// @param everyNanos CPU time between two interruptions
/// @param forNanos mean length of one
record Interruptions(double everyNanos, double forNanos) {
    private static final double USUAL_EVERY_NANOS = 70e6;
    private static final double USUAL_FOR_NANOS = 110_000;
    private static final double SLICE_NANOS = 2e6;

    /// @param perStep planted time off the CPU, as a share of the GPU's time for a step; 0 for the usual little
    static Interruptions of(JobParameters shape, double perStep) {
        if (perStep <= 0) {
            return new Interruptions(USUAL_EVERY_NANOS, USUAL_FOR_NANOS);
        }
        double slices = Math.max(1, 1.3 * shape.opNanos() * shape.kernels().count() / SLICE_NANOS);
        return new Interruptions(SLICE_NANOS, perStep * shape.gpuNanos() / slices);
    }
}
