package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.PrivateFunction;
import io.dyber.zernel.record.bpf.ProbeLinks;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.bpf.UprobeProbes;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.probe.Capture;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.Width;
import io.dyber.zernel.record.process.Machine;
import io.dyber.zernel.record.schema.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/// What a probed call costs the thread that makes it, on this machine at this moment: measured on a function of our own
/// before anything is recorded.
///
/// @param returned of a function whose return is probed
/// @param left of one that is probed where it is left
/// @param trapped of one that is probed at its `ret`, which costs a debug trap
/// @param method how it was measured, or why it was not
public record CallCost(Price returned, Price left, Price trapped, String method) {
    /// Nanoseconds.
    ///
    /// @param recorded of a call whose entry and end are recorded, with an argument and the result
    /// @param counted of a call that is only counted: of a process that is not recorded, or left out of a sample
    public record Price(double recorded, double counted) {
        private static final Price UNKNOWN = new Price(0, 0);
    }

    private static final int BATCHES = 21;
    /// Of calls with a debug trap, which take ten times as long.
    private static final int BATCHES_TRAPPED = 5;
    private static final int CALLS = 100;
    private static final int FIRST_CALLS = 20;

    /// The sample that records every call, and the one that only counts.
    private static final int ALL = 1;
    private static final int NONE = 0;

    /// Measures, in some 50 ms of CPU time; nothing of it is recorded or counted. Before the rings are read. The kernel takes
    /// as long again to take the probes away, which is not waited for.
    public static CallCost measure(BpfPrograms kernel, Schema schema) {
        if (kernel.functions().isEmpty()) {
            return unknown("no function can be probed");
        }
        try {
            return new Measurement(kernel, schema).run();
        } catch (BpfException e) {
            return unknown(e.getMessage());
        }
    }

    public static CallCost unknown(String why) {
        return new CallCost(Price.UNKNOWN, Price.UNKNOWN, Price.UNKNOWN, why);
    }

    public boolean isKnown() {
        return returned.recorded() > 0;
    }

    /// What a debug trap costs, in nanoseconds: by one at the end of a call.
    double trap() {
        return Math.max(0, trapped.counted() - left.counted());
    }

    private static final class Measurement {
        private final BpfPrograms kernel;
        private final UprobeProbes probes;
        private final FunctionProbe hook;
        private final FunctionTable table;
        private final int kind;

        Measurement(BpfPrograms kernel, Schema schema) {
            this.kernel = kernel;
            this.probes = kernel.functions().orElseThrow();
            this.hook = FunctionProbe.named(new Function(
                    ProbeSpec.CALL,
                    "",
                    "",
                    "function",
                    List.of(Capture.argument("argument", 1, Width.U64), Capture.returned("result", Width.U64))));
            this.table = new FunctionTable(kernel.functionsBtf().orElseThrow(), Set.of());
            this.kind = Decoder.numberOf(schema, ProbeSpec.CALL);
        }

        CallCost run() {
            double bare = bare();
            Optional<Price> trapped = price(leftAt(PrivateFunction.RETURN), BATCHES_TRAPPED, true, bare);
            Optional<Price> left = price(leftAt(PrivateFunction.BEFORE_RETURN), BATCHES, true, bare);
            // There, no return is probed; this process may have a filter too.
            Optional<Price> returned = Machine.endsFilteredAtReturns()
                    ? left
                    : price(
                            new Site(0, BpfPrograms.OWN_FUNCTION, Site.End.RETURN, 0),
                            BATCHES,
                            probes.backend().joinsByStackPointer(),
                            bare);
            return returned.isPresent() && left.isPresent() && trapped.isPresent()
                    ? new CallCost(returned.get(), left.get(), trapped.get(), method())
                    : unknown("measuring the cost of a probe: the calls were not seen");
        }

        private static Site leftAt(long exit) {
            return new Site(
                    0, BpfPrograms.OWN_FUNCTION, Site.End.EXITS, List.of(new Site.Exit(exit, 0)), List.of());
        }

        /// Each price has a function of its own: the probes of the one before may still be there. Empty when the kernel has not
        /// seen the calls.
        private Optional<Price> price(Site site, int batches, boolean joins, double bare) {
            FunctionDefinition definition = table.encode(hook, kind, joins);
            List<ProbeLinks> links = new ArrayList<>();
            PrivateFunction function = PrivateFunction.create();
            try {
                kernel.defineFunction(BpfPrograms.OWN_FUNCTION, definition.sampled(NONE));
                links.add(probes.attach(function.path().toString(), List.of(site)));
                return price(function, definition, batches, bare);
            } finally {
                CompletableFuture<Void> _ = ProbeLinks.detachAll(links).whenComplete((_, _) -> function.close());
            }
        }

        /// Counted and recorded batches take turns, so that whatever else the machine does meets both alike.
        private Optional<Price> price(
                PrivateFunction function, FunctionDefinition definition, int batches, double bare) {
            long before = recordedCalls();
            return kernel.recordingItself(() -> {
                double[] counted = new double[batches];
                double[] recorded = new double[batches];
                for (int i = 0; i < batches; i++) {
                    kernel.defineFunction(BpfPrograms.OWN_FUNCTION, definition.sampled(NONE));
                    counted[i] = batch(function);
                    kernel.defineFunction(BpfPrograms.OWN_FUNCTION, definition.sampled(ALL));
                    recorded[i] = batch(function);
                }
                return recordedCalls() - before == (long) batches * (FIRST_CALLS + CALLS)
                        ? Optional.of(new Price(
                                Math.max(1, median(recorded) - bare), Math.max(1, median(counted) - bare)))
                        : Optional.empty();
            });
        }

        private long recordedCalls() {
            long[] counters = kernel.countersNow(BpfPrograms.OWN_FUNCTION);
            return counters[FunctionCounts.HITS] - counters[FunctionCounts.SAMPLED_OUT];
        }

        private String method() {
            return "median of " + BATCHES + " batches (" + BATCHES_TRAPPED + " at its ret) of " + CALLS
                    + " calls of an own function with an emulated first instruction, " + probes.backend().title()
                    + " backend, with and without the probe";
        }

        private double bare() {
            try (PrivateFunction function = PrivateFunction.create()) {
                double[] batches = new double[BATCHES];
                Arrays.setAll(batches, _ -> batch(function));
                return median(batches);
            }
        }

        /// Nanoseconds per call, once the caches know the way.
        private static double batch(PrivateFunction function) {
            long _ = function.call(FIRST_CALLS);
            return (double) function.call(CALLS) / CALLS;
        }

        private static double median(double[] batches) {
            double[] sorted = batches.clone();
            Arrays.sort(sorted);
            return sorted[sorted.length / 2];
        }
    }
}
