package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.RepeatedSystemCall;
import io.dyber.zernel.record.builtin.KernelPart;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.schema.Schema;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/// What a system call of a recorded process costs its thread more than one that nobody watches, on this machine at this
/// moment: measured on the recorder's own, before anything is recorded.
///
/// All of these are at least: short reads of one file, and polls of nothing, make the probes do the least.
///
/// @param recorded nanoseconds of one that becomes an event
/// @param skipped of one that is watched and does not, as a wait that was short
/// @param other of one that no kind has, as `stat`
/// @param method how it was measured, or why it was not
public record SystemCallCost(double recorded, double skipped, double other, String method) {
    private static final int BATCHES = 11;
    private static final int CALLS = 200;
    private static final int FIRST_CALLS = 20;
    private static final byte[] UNWATCHED = new byte[8];

    /// Measures, in some 10 ms of CPU time; nothing of it is recorded or counted. Before the probes are attached and the rings
    /// are read.
    public static SystemCallCost measure(BpfPrograms kernel, Schema schema) {
        if (!kernel.watchesSystemCalls()) {
            return unknown("no system calls are watched");
        }
        try (RepeatedSystemCall calls = RepeatedSystemCall.create()) {
            return measured(kernel, schema, calls);
        } catch (BpfException e) {
            return unknown(e.getMessage());
        }
    }

    public static SystemCallCost unknown(String why) {
        return new SystemCallCost(0, 0, 0, why);
    }

    public boolean isKnown() {
        return recorded > 0;
    }

    private static SystemCallCost measured(BpfPrograms kernel, Schema schema, RepeatedSystemCall calls) {
        double[] read = new double[BATCHES];
        double[] poll = new double[BATCHES];
        for (int i = 0; i < BATCHES; i++) {
            read[i] = batch(calls::read);
            poll[i] = batch(calls::poll);
        }
        byte[] asRead = entry(schema, RepeatedSystemCall.PREAD64);
        byte[] asPoll = entry(schema, RepeatedSystemCall.POLL);
        double[] recorded = new double[BATCHES];
        double[] skipped = new double[BATCHES];
        double[] other = new double[BATCHES];
        long before = kernel.countersNow(BpfPrograms.OWN_FUNCTION)[FunctionCounts.HITS];
        kernel.watchingOwnSystemCalls(() -> {
            for (int i = 0; i < BATCHES; i++) {
                other[i] = batch(calls::poll);
                kernel.defineSystemCall(RepeatedSystemCall.POLL, asPoll);
                skipped[i] = batch(calls::poll);
                kernel.defineSystemCall(RepeatedSystemCall.POLL, UNWATCHED);
                kernel.defineSystemCall(RepeatedSystemCall.PREAD64, asRead);
                recorded[i] = batch(calls::read);
                kernel.defineSystemCall(RepeatedSystemCall.PREAD64, UNWATCHED);
            }
        });
        long seen = kernel.countersNow(BpfPrograms.OWN_FUNCTION)[FunctionCounts.HITS] - before;
        if (seen < 2L * BATCHES * (FIRST_CALLS + CALLS)) {
            return unknown("measuring the cost of a system call: the calls were not seen");
        }
        return new SystemCallCost(
                more(recorded, read),
                more(skipped, poll),
                more(other, poll),
                "median of " + BATCHES + " batches of " + CALLS
                        + " reads of 100 bytes and polls of nothing by the recorder, with and without the probes");
    }

    /// What the map of system calls says of this one, with the function that is nobody's.
    private static byte[] entry(Schema schema, int number) {
        for (Probe probe : Probes.all()) {
            for (KernelPart.Entry call : probe.systemCalls()) {
                if (call.key() == number) {
                    return call.value(Decoder.numberOf(schema, probe.kind()), BpfPrograms.OWN_FUNCTION);
                }
            }
        }
        throw new IllegalStateException("system call " + number + " is of no kind");
    }

    private static double more(double[] with, double[] without) {
        return Math.max(1, median(with) - median(without));
    }

    /// Nanoseconds per call, once the caches know the way.
    private static double batch(LongUnaryOperator calls) {
        long _ = calls.applyAsLong(FIRST_CALLS);
        return (double) calls.applyAsLong(CALLS) / CALLS;
    }

    private static double median(double[] batches) {
        double[] sorted = batches.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
