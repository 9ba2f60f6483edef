package io.dyber.zernel.record.simulate.machine;

/// A kernel of the model, launched once a step.
///
/// @param library whether a library launches it through its own runtime, so that only the driver's call is seen
/// @param activationBytes what is allocated for its output; 0 for nothing
public record Kernel(
        String name, boolean library, long func, int grid, int block, int shared, long gpuNanos, long activationBytes) {}
