package io.dyber.zernel.record.session;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.option.StackOptions;
import io.dyber.zernel.record.stack.FrameNames;
import io.dyber.zernel.record.stack.Pythons;

/// What the footer says of stacks.
record StackFacts(StackOptions options, BpfPrograms kernel, Pythons pythons, FrameNames names) {
    private static final int TAKEN = 0;
    private static final int OVER_BUDGET = 1;
    private static final int LOST = 2;
    private static final int UNREAD = 3;
    private static final int DEEPER = 4;

    Footer.Stacks describe() {
        long[] counts = kernel.stackCounts();
        return new Footer.Stacks(
                options.blocked().toNanos(),
                options.samples(),
                BpfPrograms.STACKS_PER_SECOND,
                counts[TAKEN],
                counts[OVER_BUDGET],
                counts[LOST],
                counts[UNREAD],
                counts[DEEPER],
                names.unnamed(),
                pythons.describe());
    }
}
