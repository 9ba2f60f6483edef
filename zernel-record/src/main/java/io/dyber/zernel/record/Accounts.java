package io.dyber.zernel.record;

import io.dyber.zernel.record.event.CallCounts;
import java.util.ArrayList;
import java.util.List;

/// Whether what the kernel has sent and what has become of it are the same, function by function.
final class Accounts {
    private Accounts() {}

    /// The functions whose calls are not all accounted for, with the numbers. Nothing may be sending or be left in the
    /// rings.
    static List<String> open(KernelSide kernel, CallCounts counts) {
        List<String> open = new ArrayList<>();
        kernel.names().forEach((id, function) -> {
            long[] counters = kernel.counters(id);
            long sent = FunctionCounts.sent(counters, function.sendsEnter());
            long taken = counts.events(id) + counts.leftOut(id) + counts.covered(id)
                    + (function.sendsEnter() ? 0 : counts.returnedTwice(id));
            if (sent != taken) {
                open.add("calls of '" + function.name() + "' do not add up: " + counters[FunctionCounts.HITS]
                        + " entered, " + sent + " sent, " + taken + " taken");
            }
        });
        return open;
    }
}
