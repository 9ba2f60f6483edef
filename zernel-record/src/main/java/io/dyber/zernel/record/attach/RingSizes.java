package io.dyber.zernel.record.attach;

import java.util.OptionalLong;

/// How large the rings are, in bytes: powers of two. A full one is what a busy job makes in half a second; where the recorder's
/// memory is limited, they are smaller.
public record RingSizes(int vital, int bulk) {
    private static final RingSizes FULL = new RingSizes(32 << 20, 64 << 20);
    private static final int SMALLEST = 1 << 20;

    /// Of the limit, the rings take a tenth at most.
    ///
    /// @param limit of this process's memory in bytes
    public static RingSizes within(OptionalLong limit) {
        if (limit.isEmpty()) {
            return FULL;
        }
        return new RingSizes(
                powerOfTwo(limit.getAsLong() / 32, FULL.vital), powerOfTwo(limit.getAsLong() / 16, FULL.bulk));
    }

    private static int powerOfTwo(long most, int full) {
        return Math.clamp(Long.highestOneBit(most), SMALLEST, full);
    }
}
