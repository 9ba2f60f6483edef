package io.dyber.zernel.record.elf;

import java.util.List;

/// One place where a USDT tracepoint is compiled in; a tracepoint can have several.
///
/// @param fileOffset where the probe goes: a nop, so emulated
/// @param semaphoreOffset where in the file the 16-bit counter is that switches the tracepoint on while it is
///     probed (`ref_ctr_offset`); 0 = there is none
public record UsdtNote(
        String provider, String name, long fileOffset, long semaphoreOffset, List<UsdtArgument> arguments) {
    public UsdtNote {
        arguments = List.copyOf(arguments);
    }
}
