package io.dyber.zernel.record.elf.x86;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;

/// Where a function is as good as left: instructions from which every way leads to a `ret` without a loop or a call, but
/// for calls that free memory. Registers are put back there, and temporaries are gone.
///
/// The kernel single-steps a `ret` under a probe, which costs a debug trap. On the way there often lies an instruction that
/// it emulates: compilers ask `if (buffer != inlined) free(buffer)`.
final class WaysOut {
    private final byte[] code;
    private final SortedMap<Integer, Instruction> instructions;
    private final Freeing freeing;
    private final Map<Integer, List<Integer>> before = new HashMap<>();
    /// Instructions of the ways out, and whether an emulated one lies on each way from there on.
    private final Map<Integer, Boolean> ways = new HashMap<>();

    private WaysOut(byte[] code, SortedMap<Integer, Instruction> instructions, Freeing freeing) {
        this.code = code;
        this.instructions = instructions;
        this.freeing = freeing;
    }

    /// The first emulated instruction on each way out; empty when there is one without, or when it is not known what lies on the
    /// stack there.
    static List<Exit> emulated(
            byte[] code, SortedMap<Integer, Instruction> instructions, StackHeights heights, Freeing freeing) {
        WaysOut ways = new WaysOut(code, instructions, freeing);
        ways.find();
        List<Exit> exits = new ArrayList<>();
        for (int at : ways.firstEmulated()) {
            OptionalInt height = heights.exactly(at);
            if (height.isEmpty()) {
                return List.of();
            }
            exits.add(new Exit(at, height.getAsInt()));
        }
        return exits;
    }

    /// From the returns backwards: what only leads there leads out.
    private void find() {
        Deque<Integer> open = new ArrayDeque<>();
        instructions.forEach((at, instruction) -> {
            following(at).forEach(next -> before.computeIfAbsent(next, _ -> new ArrayList<>()).add(at));
            if (instruction.returns()) {
                ways.put(at, false);
                open.add(at);
            }
        });
        while (!open.isEmpty()) {
            for (int at : before.getOrDefault(open.poll(), List.of())) {
                if (!ways.containsKey(at) && isTidying(at) && following(at).stream().allMatch(ways::containsKey)) {
                    boolean emulated = SiteChooser.isEmulated(code, at)
                            || following(at).stream().allMatch(next -> ways.getOrDefault(next, false));
                    ways.put(at, emulated);
                    open.add(at);
                }
            }
        }
    }

    private Set<Integer> firstEmulated() {
        Set<Integer> first = new TreeSet<>();
        Set<Integer> seen = new HashSet<>();
        Deque<Integer> open = new ArrayDeque<>();
        for (int at : ways.keySet()) {
            if (isEntered(at)) {
                open.add(at);
            }
        }
        while (!open.isEmpty()) {
            int at = open.poll();
            if (!ways.getOrDefault(at, false)) {
                return Set.of();
            }
            if (SiteChooser.isEmulated(code, at)) {
                first.add(at);
            } else if (seen.add(at)) {
                open.addAll(following(at));
            }
        }
        return first;
    }

    /// Whether one comes there from elsewhere: also by a table of jumps or an exception, which are not seen.
    private boolean isEntered(int at) {
        List<Integer> sources = before.getOrDefault(at, List.of());
        return at == 0 || sources.isEmpty() || !ways.keySet().containsAll(sources);
    }

    /// Where the code goes on in the function, also after a call.
    private List<Integer> following(int at) {
        Instruction instruction = instructions.get(at);
        List<Integer> next = new ArrayList<>();
        if (instruction == null || instruction.returns() || instruction.jumpsIndirectly()) {
            return next;
        }
        if (instruction.jumps() || instruction.branches()) {
            next.add(instruction.target());
        }
        if (!instruction.jumps()) {
            next.add(instruction.end());
        }
        return next;
    }

    private boolean isTidying(int at) {
        Instruction instruction = instructions.get(at);
        return instruction != null && (!instruction.calls() || instruction.frees(freeing));
    }
}
