package io.dyber.zernel.record.detail;

/// A step of a training thread, as far as it can be told while it is recorded: from the end of one to that of the next.
///
/// @param startNanos since the epoch, as `endNanos`
public record Step(int tid, long startNanos, long endNanos) {
    /// How long it took.
    public long nanos() {
        return endNanos - startNanos;
    }
}
