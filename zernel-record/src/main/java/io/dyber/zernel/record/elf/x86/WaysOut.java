package io.dyber.zernel.record.elf.x86;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;

/// Where a function is as good as left: instructions from which every way leads to a `ret` without a loop or a call, but
/// for calls that free memory.
///
/// The kernel single-steps a `ret` under a probe, which costs a debug trap. On the way there often lies an instruction that
/// it emulates: compilers ask `if (buffer != inlined) free(buffer)`.
///
/// Instructions have numbers here, in their order: thousands of functions are looked at while a job waits.
final class WaysOut {
    /// In place of a number: there is no such instruction, or it lies outside of the function or is not known.
    private static final int NONE = -1;
    private static final int OUTSIDE = -2;

    private final byte[] code;
    private final Surroundings around;
    private final Instruction[] all;
    private final int[] places;
    /// The instructions that each one goes on with, also after a call.
    private final int[] next;
    private final int[] branch;
    private final BitSet leadOut = new BitSet();
    /// Of those that lead out, whether an emulated instruction lies on each way from there on.
    private final BitSet pass = new BitSet();

    private WaysOut(byte[] code, SortedMap<Integer, Instruction> instructions, Surroundings around) {
        this.code = code;
        this.around = around;
        this.all = instructions.values().toArray(new Instruction[0]);
        this.places = new int[all.length];
        this.next = new int[all.length];
        this.branch = new int[all.length];
        int[] numbers = new int[code.length];
        Arrays.fill(numbers, OUTSIDE);
        int number = 0;
        for (Map.Entry<Integer, Instruction> entry : instructions.entrySet()) {
            places[number] = entry.getKey();
            numbers[entry.getKey()] = number++;
        }
        for (int i = 0; i < all.length; i++) {
            Instruction one = all[i];
            int following = one.end() < code.length ? numbers[one.end()] : OUTSIDE;
            boolean jumps = one.jumps() || one.branches();
            int target = jumps && !one.leadsOut() ? numbers[one.target()] : OUTSIDE;
            next[i] = one.returns() ? NONE : one.jumpsIndirectly() ? OUTSIDE : jumps ? target : following;
            branch[i] = one.branches() ? following : NONE;
        }
    }

    /// The first emulated instruction on each way out; empty when there is one without, or when it is not known what lies on the
    /// stack there.
    static List<Exit> emulated(
            byte[] code, SortedMap<Integer, Instruction> instructions, StackHeights heights, Surroundings around) {
        WaysOut ways = new WaysOut(code, instructions, around);
        ways.find();
        // A function that is left where it begins has no time of its own.
        Optional<BitSet> entrances = ways.leadOut.get(0) ? Optional.empty() : ways.entrances(heights);
        BitSet first = entrances.map(ways::firstEmulated).orElseGet(BitSet::new);
        List<Exit> exits = new ArrayList<>();
        for (int i = first.nextSetBit(0); i >= 0; i = first.nextSetBit(i + 1)) {
            OptionalInt height = heights.exactly(ways.places[i]);
            if (height.isEmpty()) {
                return List.of();
            }
            exits.add(new Exit(ways.places[i], height.getAsInt()));
        }
        return exits;
    }

    /// From the returns backwards: what only leads there leads out.
    private void find() {
        boolean found;
        do {
            found = false;
            for (int i = all.length - 1; i >= 0; i--) {
                if (!leadOut.get(i) && isOnlyWayOut(i)) {
                    found = true;
                    leadOut.set(i);
                    boolean passes = next[i] != NONE && pass.get(next[i]) && (branch[i] == NONE || pass.get(branch[i]));
                    pass.set(i, passes || isPlace(i));
                }
            }
        } while (found);
    }

    private boolean isOnlyWayOut(int i) {
        if (next[i] == NONE) {
            return true;
        }
        return leadsOut(next[i])
                && (branch[i] == NONE || leadsOut(branch[i]))
                && (!all[i].calls() || all[i].frees(around))
                && !all[i].repeats();
    }

    private boolean leadsOut(int i) {
        return i >= 0 && leadOut.get(i);
    }

    private BitSet firstEmulated(BitSet entrances) {
        BitSet first = new BitSet();
        BitSet seen = new BitSet();
        BitSet open = (BitSet) entrances.clone();
        // Ways out have no loops, but may lead back.
        for (int i = open.nextSetBit(0); i >= 0; i = open.nextSetBit(0)) {
            open.clear(i);
            seen.set(i);
            if (!pass.get(i)) {
                return new BitSet();
            }
            if (isPlace(i)) {
                first.set(i);
            } else {
                openUnless(seen, open, next[i]);
                openUnless(seen, open, branch[i]);
            }
        }
        return first;
    }

    private static void openUnless(BitSet seen, BitSet open, int i) {
        if (i >= 0 && !seen.get(i)) {
            open.set(i);
        }
    }

    /// Where the ways out are entered from other code, also from parts of the function that lie elsewhere, and by exceptions, which
    /// are not seen. Empty when that is not known, as with a table of jumps.
    private Optional<BitSet> entrances(StackHeights heights) {
        BitSet fromWays = new BitSet();
        BitSet entered = new BitSet();
        List<Integer> cold = new ArrayList<>();
        for (int i = 0; i < all.length; i++) {
            BitSet reached = leadOut.get(i) ? fromWays : entered;
            if (next[i] >= 0) {
                reached.set(next[i]);
            }
            if (branch[i] >= 0) {
                reached.set(branch[i]);
            }
            boolean leaves = heights.mayBeAsAtStart(places[i]) && !all[i].branches();
            if (all[i].jumpsIndirectly() && (!leaves || all[i].isOfSwitch())) {
                return Optional.empty();
            }
            if (all[i].leadsOut() && !leaves) {
                cold.add(all[i].target());
            }
        }
        Optional<Set<Integer>> back = ColdCode.leadsBack(cold, code.length, around);
        back.ifPresent(from -> from.forEach(place -> entered.set(Math.max(0, Arrays.binarySearch(places, place)))));
        BitSet unseen = (BitSet) leadOut.clone();
        unseen.andNot(fromWays);
        entered.or(unseen);
        entered.and(leadOut);
        return back.map(_ -> entered);
    }

    /// No nops of several bytes: before Linux 6.16 they are single-stepped, and 6.18 turns those of 5 bytes into a call, which
    /// writes below the stack pointer, where a function that calls nothing may keep values.
    private boolean isPlace(int i) {
        return SiteChooser.isEmulated(code, places[i]) && !SiteChooser.isLongNop(code, places[i]);
    }
}
