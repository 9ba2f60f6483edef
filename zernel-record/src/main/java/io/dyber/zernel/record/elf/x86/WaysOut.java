package io.dyber.zernel.record.elf.x86;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
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
    private final boolean[] leadsOut;
    /// Of those that lead out, whether an emulated instruction lies on each way from there on.
    private final boolean[] passes;

    private WaysOut(byte[] code, SortedMap<Integer, Instruction> instructions, Freeing freeing) {
        this.code = code;
        this.instructions = instructions;
        this.freeing = freeing;
        this.leadsOut = new boolean[code.length];
        this.passes = new boolean[code.length];
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
        List<Integer> upwards = new ArrayList<>(instructions.keySet()).reversed();
        boolean found;
        do {
            found = false;
            for (int at : upwards) {
                if (!leadsOut[at] && isOnlyWayOut(at)) {
                    found = true;
                    leadsOut[at] = true;
                    passes[at] = isPlace(at) || (!following(at).isEmpty() && following(at).stream().allMatch(next -> passes[next]));
                }
            }
        } while (found);
    }

    private boolean isOnlyWayOut(int at) {
        Instruction instruction = instructions.get(at);
        if (instruction == null || instruction.returns()) {
            return instruction != null;
        }
        List<Integer> following = following(at);
        boolean works = instruction.calls() && !instruction.frees(freeing);
        return !works && !following.isEmpty() && following.stream().allMatch(this::leadsOutFrom);
    }

    private boolean leadsOutFrom(int at) {
        return at >= 0 && at < leadsOut.length && leadsOut[at];
    }

    private Set<Integer> firstEmulated() {
        Set<Integer> first = new TreeSet<>();
        Set<Integer> seen = new TreeSet<>();
        Deque<Integer> open = new ArrayDeque<>(entrances());
        while (!open.isEmpty()) {
            int at = open.poll();
            if (!passes[at]) {
                return Set.of();
            }
            if (isPlace(at)) {
                first.add(at);
            } else if (seen.add(at)) {
                open.addAll(following(at));
            }
        }
        return first;
    }

    /// Where the ways out are entered from other code: also by a table of jumps or an exception, which are not seen.
    private List<Integer> entrances() {
        boolean[] fromWays = new boolean[code.length];
        boolean[] fromElsewhere = new boolean[code.length];
        for (int at : instructions.keySet()) {
            for (int next : following(at)) {
                if (leadsOutFrom(next)) {
                    (leadsOut[at] ? fromWays : fromElsewhere)[next] = true;
                }
            }
        }
        return instructions.keySet().stream()
                .filter(at -> leadsOut[at] && (at == 0 || fromElsewhere[at] || !fromWays[at]))
                .toList();
    }

    /// Where the code goes on in the function, also after a call.
    private List<Integer> following(int at) {
        Instruction instruction = instructions.get(at);
        if (instruction == null || instruction.returns() || instruction.jumpsIndirectly()) {
            return List.of();
        }
        if (instruction.jumps()) {
            return List.of(instruction.target());
        }
        return instruction.branches() ? List.of(instruction.target(), instruction.end()) : List.of(instruction.end());
    }

    /// Not a nop of 5 bytes, which Linux 6.18 turns into a call under a probe: that writes below the stack pointer, where a
    /// function that calls nothing may keep values.
    private boolean isPlace(int at) {
        return SiteChooser.isEmulated(code, at) && !SiteChooser.isLongestNop(code, at);
    }
}
