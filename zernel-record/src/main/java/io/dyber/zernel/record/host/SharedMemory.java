package io.dyber.zernel.record.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// How much of its memory a process shares, from `smaps_rollup`.
///
/// For that the kernel walks over all pages of the process, which takes milliseconds for each gigabyte. So each is asked
/// every two seconds at most, and all of them together get a hundredth of a CPU: those that wait longest come first.
final class SharedMemory {
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long SHARE = 100;
    private static final long MOST_CREDIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long FIRST_CREDIT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final LongSupplier time;
    private final LongSupplier cost;
    private long credit = FIRST_CREDIT_NANOS;
    private long before;
    private long refused;

    /// @param time nanoseconds that pass
    /// @param cost CPU time of this thread
    SharedMemory(LongSupplier time, LongSupplier cost) {
        this.time = time;
        this.cost = cost;
        this.before = time.getAsLong();
    }

    /// Takes what one process shares.
    @FunctionalInterface
    interface Taker {
        /// Called for each process that told.
        ///
        /// @param pss its part of what it shares, and all that it does not
        /// @param own what it does not share
        void take(Watched process, long pss, long own);
    }

    /// Asks those whose turn it is.
    void sample(Collection<Watched> processes, Taker taker) {
        long start = time.getAsLong();
        credit = Math.min(credit + (start - before) / SHARE, MOST_CREDIT_NANOS);
        before = start;
        List<Watched> due = processes.stream()
                .filter(process -> process.sharedNanos() == Watched.NEVER || start - process.sharedNanos() >= PERIOD_NANOS)
                .sorted(Comparator.comparingLong(Watched::sharedNanos))
                .toList();
        for (Watched process : due) {
            if (credit <= 0) {
                return;
            }
            long begin = cost.getAsLong();
            ask(process, taker);
            credit -= cost.getAsLong() - begin;
            process.sharedAt(start);
        }
    }

    private void ask(Watched process, Taker taker) {
        try {
            String text = Files.readString(process.folder().resolve("smaps_rollup"));
            OptionalLong pss = KernelFile.field(text, "Pss:");
            OptionalLong clean = KernelFile.field(text, "Private_Clean:");
            OptionalLong dirty = KernelFile.field(text, "Private_Dirty:");
            if (pss.isPresent() && clean.isPresent() && dirty.isPresent()) {
                taker.take(process, kilobytes(pss), kilobytes(clean) + kilobytes(dirty));
            }
        } catch (IOException _) {
            refused += Files.exists(process.folder()) ? 1 : 0;
        }
    }

    /// How often a running process was asked in vain: another user's, without the right to look.
    long refused() {
        return refused;
    }

    private static long kilobytes(OptionalLong value) {
        return value.orElse(0) * 1024;
    }
}
