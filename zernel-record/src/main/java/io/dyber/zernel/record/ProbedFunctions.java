package io.dyber.zernel.record;

import io.dyber.zernel.record.event.CallCounts;
import io.dyber.zernel.record.probe.OperatorProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The account of all functions that were to be probed: where, whether it went well, and how often they were called.
final class ProbedFunctions {
    private final KernelSide kernel;
    private final List<ProbedFunction> probed = new ArrayList<>();

    ProbedFunctions(KernelSide kernel) {
        this.kernel = kernel;
    }

    void add(ProbedFunction row) {
        probed.add(row);
    }

    /// Functions attached so far.
    int attached() {
        return (int) probed.stream().filter(ProbedFunction::isAttached).count();
    }

    boolean isAttached(String kind) {
        return probed.stream().anyMatch(row -> row.isAttached() && row.hook().probe().kind().equals(kind));
    }

    /// The footer's `zernel.probes`.
    List<Map<String, Object>> describe(CallCounts counts) {
        boolean joins = kernel.functions().map(probes -> probes.backend().joinsByStackPointer()).orElse(false);
        List<Map<String, Object>> rows = new ArrayList<>();
        for (ProbedFunction row : probed) {
            FunctionCounts counted = row.isAttached()
                    ? FunctionCounts.of(
                            kernel.counters(row.id()),
                            counts,
                            row.id(),
                            FunctionTable.sendsEnter(row.hook(), joins))
                    : FunctionCounts.NONE;
            // Of thousands of operators, a program calls some dozens.
            boolean idleOperator = row.hook().probe().kind().equals(OperatorProbe.KIND) && row.isAttached();
            if (!idleOperator || counted.entries() > 0) {
                rows.add(row.describe(counted));
            }
        }
        return rows;
    }

    /// How often the probes were hit so far.
    Overhead.Hits hits() {
        Overhead.Hits hits = Overhead.Hits.NO;
        for (ProbedFunction row : probed) {
            if (row.isAttached()) {
                hits = hits.plus(kernel.counters(row.id()), row.hook().role().returns());
            }
        }
        return hits;
    }

    /// Why a kind whose library is there could not be attached, if so.
    Optional<String> problem(String kind) {
        return probed.stream()
                .filter(row -> !row.isAttached() && row.hook().probe().kind().equals(kind))
                .map(row -> row.symbol() + " in " + row.library() + ": " + row.why())
                .findFirst();
    }

    /// What keeps the recording from holding all that was asked for.
    List<String> problems() {
        return probed.stream()
                .filter(row -> row.state().equals("failed"))
                .map(row -> "probe on '" + row.symbol() + "' in " + row.library() + ": " + row.why())
                .toList();
    }
}
