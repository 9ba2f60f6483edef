package io.dyber.zernel.analyze.whatif;

import io.dyber.zernel.analyze.whatif.TracedOperation.Slot;
import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// What waits for what in one step of one replica of a model that is split into pipeline stages, as Megatron runs it:
/// with or without interleaved stages, a distributed optimizer, and reductions that overlap with backward.
///
/// The operations of a stage run on streams of their own: compute, one for each direction of sends and of receives, and
/// one for the collectives of replicas. A stream runs in order; a receive waits for the compute before the one that
/// needs it, a send for the one whose result it sends.
final class PipelineSchedule {
    /// By how much the clocks of ranks may differ.
    private static final double CLOCKS = 5e-5;

    private final Map<Slot, Integer> positions = new LinkedHashMap<>();
    private final List<List<Integer>> waits = new ArrayList<>();
    private final Map<Integer, Group> groups = new HashMap<>();
    private final Map<Group, Integer> sides = new HashMap<>();
    private final int stages;
    private final int chunks;

    /// Operations that begin together.
    ///
    /// @param name unique in the schedule
    /// @param ofAllReplicas whether those of all replicas do
    record Group(String name, boolean ofAllReplicas) {}

    /// Makes one from a step of one replica.
    ///
    /// @throws RecordingException if its sends and receives do not match
    PipelineSchedule(List<TracedOperation> step) {
        for (TracedOperation operation : step) {
            positions.put(operation.slot(), positions.size());
            waits.add(new ArrayList<>());
        }
        Map<Integer, List<TracedOperation>> byStage = new TreeMap<>();
        step.stream()
                .sorted(TracedOperation.IN_ORDER)
                .forEach(operation -> byStage.computeIfAbsent(operation.stage(), _ -> new ArrayList<>()).add(operation));
        stages = byStage.size();
        chunks = step.stream().mapToInt(TracedOperation::modelChunk).max().orElse(-1) + 1;
        boolean overlaps = step.stream().anyMatch(operation -> operation.type().equals(TracedOperation.SEPARATE));
        byStage.forEach((stage, operations) -> stage(stage, operations, overlaps));
        sides.forEach((group, count) -> {
            if (count != 2) {
                throw unmatched(group.name() + " has " + count + " of 2 sides");
            }
        });
    }

    /// The operations, in the order of their numbers from 0.
    Set<Slot> slots() {
        return positions.keySet();
    }

    /// What an operation waits for.
    int[] waitsFor(int operation) {
        return waits.get(operation).stream().mapToInt(Integer::intValue).toArray();
    }

    /// Operations by number that begin with others.
    Map<Integer, Group> groups() {
        return groups;
    }

    private void stage(int stage, List<TracedOperation> operations, boolean overlaps) {
        List<TracedOperation> computes = operations.stream().filter(TracedOperation::computes).toList();
        chain(computes);
        for (String direction : List.of("forward", "backward")) {
            List<TracedOperation> of = ofType(computes, direction + "-compute");
            pointToPoint(ofType(operations, direction + "-send"), of);
            pointToPoint(ofType(operations, direction + "-recv"), of);
        }
        firstBackward(stage, computes);
        chain(operations.stream()
                .filter(operation -> operation.type().equals(TracedOperation.GATHER) || operation.type().equals(TracedOperation.SCATTER))
                .toList());
        gathers(operations, computes);
        if (overlaps) {
            scatters(operations, computes);
        }
        end(operations, computes, overlaps);
        for (TracedOperation operation : operations) {
            switch (operation.type()) {
                case TracedOperation.GATHER, TracedOperation.SCATTER, TracedOperation.SEPARATE ->
                    join(operation, new Group(operation.slot().toString(), true));
                case TracedOperation.EMBEDDING -> join(operation, new Group(operation.type(), false));
                case TracedOperation.CLIP -> join(operation, new Group(operation.type(), true));
                default -> {}
            }
        }
    }

    /// Sends or receives of one direction. Those that a profiler saw before the first or after the last compute moved
    /// nothing, and so did those at the two ends of the model: they wait for nobody.
    private void pointToPoint(List<TracedOperation> transfers, List<TracedOperation> computes) {
        chain(transfers);
        if (transfers.isEmpty() || computes.isEmpty()) {
            return;
        }
        double lastBegin = computes.getLast().begin();
        double firstEnd = computes.stream().mapToDouble(TracedOperation::end).min().orElse(0);
        List<TracedOperation> used = transfers.stream()
                .filter(transfer -> transfer.sends()
                        ? transfer.end() >= firstEnd - CLOCKS
                        : transfer.begin() <= lastBegin + CLOCKS)
                .toList();
        int missing = used.isEmpty() ? 0 : computes.size() - used.size();
        if (missing < 0 || missing > 1) {
            throw unmatched(used.size() + " of " + transfers.getFirst().type() + " for " + computes.size() + " computes");
        }
        Map<Integer, TracedOperation> numbered = new HashMap<>();
        computes.forEach(compute -> numbered.put(compute.number(), compute));
        int number = transfers.getFirst().sends() ? 0 : missing;
        int moved = 0;
        for (TracedOperation transfer : used) {
            TracedOperation compute = numbered.get(number);
            if (compute == null) {
                throw unmatched("no " + computes.getFirst().type() + " has the number " + number);
            }
            if (transfer.sends()) {
                waitsFor(transfer, compute);
            } else {
                waitsFor(compute, transfer);
                TracedOperation before = numbered.get(number - 1);
                if (before != null) {
                    waitsFor(transfer, before);
                }
            }
            // Data flows up the model forward, and down it backward; where it would leave the model there is none.
            int up = transfer.forward() == transfer.sends() ? 1 : -1;
            int peerChunk = compute.modelChunk() + up;
            if (peerChunk >= 0 && peerChunk < chunks) {
                int sender = transfer.sends() ? transfer.stage() : Math.floorMod(transfer.stage() + up, stages);
                String direction = transfer.forward() ? "forward" : "backward";
                Group group = new Group("send " + moved + " " + direction + " from stage " + sender, false);
                join(transfer, group);
                sides.merge(group, 1, Integer::sum);
                moved++;
            }
            number++;
        }
    }

    /// The first exchange of backward is posted before the last forward, not when it is needed.
    private void firstBackward(int stage, List<TracedOperation> computes) {
        int first = 0;
        while (first < computes.size() && computes.get(first).forward()) {
            first++;
        }
        if (first < 2 || first == computes.size()) {
            return;
        }
        for (String type : List.of("backward-recv", "backward-send")) {
            Integer transfer = positions.get(new Slot(type, 0, stage));
            if (transfer != null) {
                waits.get(transfer).add(position(computes.get(first - 2)));
            }
        }
    }

    /// A chunk's first forward waits for its parameters.
    private void gathers(List<TracedOperation> operations, List<TracedOperation> computes) {
        Set<Integer> done = new HashSet<>();
        for (TracedOperation gather : ofType(operations, TracedOperation.GATHER).reversed()) {
            if (done.add(gather.chunk())) {
                ofType(computes, TracedOperation.FORWARD).stream()
                        .filter(compute -> compute.chunk() == gather.chunk())
                        .findFirst()
                        .ifPresent(compute -> waitsFor(compute, gather));
            }
        }
    }

    /// The reduction of a chunk's gradients waits for its last backward.
    private void scatters(List<TracedOperation> operations, List<TracedOperation> computes) {
        Set<Integer> done = new HashSet<>();
        for (TracedOperation scatter : ofType(operations, TracedOperation.SCATTER)) {
            if (done.add(scatter.chunk())) {
                ofType(computes, TracedOperation.BACKWARD).stream()
                        .filter(compute -> compute.chunk() == scatter.chunk())
                        .max(Comparator.comparingDouble(TracedOperation::end))
                        .ifPresent(compute -> waitsFor(scatter, compute));
            }
        }
    }

    /// What follows the last compute, in this order.
    private void end(List<TracedOperation> operations, List<TracedOperation> computes, boolean overlaps) {
        List<TracedOperation> chain = new ArrayList<>();
        computes.stream().max(Comparator.comparingDouble(TracedOperation::end)).ifPresent(chain::add);
        chain.addAll(ofType(operations, TracedOperation.COLLECTION));
        int reductions = chain.size();
        for (String type : List.of(
                TracedOperation.NORM,
                TracedOperation.EMBEDDING,
                overlaps ? TracedOperation.SEPARATE : TracedOperation.SCATTER,
                TracedOperation.CLIP,
                TracedOperation.OPTIMIZER)) {
            chain.addAll(ofType(operations, type));
        }
        chain(chain);
        List<TracedOperation> scatters = ofType(operations, TracedOperation.SCATTER);
        if (overlaps && !scatters.isEmpty() && reductions < chain.size()) {
            waitsFor(chain.get(reductions), scatters.getLast());
        }
    }

    private static List<TracedOperation> ofType(List<TracedOperation> operations, String type) {
        return operations.stream().filter(operation -> operation.type().equals(type)).toList();
    }

    private void chain(List<TracedOperation> operations) {
        for (int i = 1; i < operations.size(); i++) {
            waitsFor(operations.get(i), operations.get(i - 1));
        }
    }

    private void waitsFor(TracedOperation operation, TracedOperation before) {
        waits.get(position(operation)).add(position(before));
    }

    private void join(TracedOperation operation, Group group) {
        groups.put(position(operation), group);
    }

    private int position(TracedOperation operation) {
        return positions.getOrDefault(operation.slot(), -1);
    }

    private static RecordingException unmatched(String why) {
        return new RecordingException(
                "matching sends and receives of pipeline stages: " + why, "all stages of each replica must be in the trace, and their sends and receives");
    }
}
