package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.event.CallShape.Role;

/// A function to probe and what its calls mean.
///
/// @param vital whether its events go through the ring that a flood of others cannot fill
public record Hook(Function function, Role role, boolean vital) {
    /// A function whose calls the user asked for.
    public static Hook named(Function function) {
        return new Hook(function, Role.CALL, false);
    }
}
