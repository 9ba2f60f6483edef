package io.dyber.zernel.record.elf.x86;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SortedMap;

/// Where a function is as good as left: instructions from which every way leads to a `ret` without a loop or a call, but
/// for calls that free memory. Registers are put back there, and temporaries are gone.
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
    private final Freeing freeing;
    private final Instruction[] all;
    private final int[] places;
    /// The instructions that each one goes on with, also after a call.
    private final int[] next;
    private final int[] branch;
    private final BitSet leadOut = new BitSet();
    /// Of those that lead out, whether an emulated instruction lies on each way from there on.
    private final BitSet pass = new BitSet();

    private WaysOut(byte[] code, SortedMap<Integer, Instruction> instructions, Freeing freeing) {
        this.code = code;
        this.freeing = freeing;
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
            byte[] code, SortedMap<Integer, Instruction> instructions, StackHeights heights, Freeing freeing) {
        WaysOut ways = new WaysOut(code, instructions, freeing);
        ways.find();
        BitSet first = ways.firstEmulated();
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
                && (!all[i].calls() || all[i].frees(freeing));
    }

    private boolean leadsOut(int i) {
        return i >= 0 && leadOut.get(i);
    }

    private BitSet firstEmulated() {
        BitSet first = new BitSet();
        BitSet seen = new BitSet();
        BitSet open = entrances();
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

    /// Where the ways out are entered from other code: also by a table of jumps or an exception, which are not seen.
    private BitSet entrances() {
        BitSet fromWays = new BitSet();
        BitSet entered = new BitSet();
        for (int i = 0; i < all.length; i++) {
            BitSet reached = leadOut.get(i) ? fromWays : entered;
            if (next[i] >= 0) {
                reached.set(next[i]);
            }
            if (branch[i] >= 0) {
                reached.set(branch[i]);
            }
        }
        BitSet unseen = (BitSet) leadOut.clone();
        unseen.andNot(fromWays);
        entered.or(unseen);
        entered.set(0);
        entered.and(leadOut);
        return entered;
    }

    /// Not a nop of 5 bytes, which Linux 6.18 turns into a call under a probe: that writes below the stack pointer, where a
    /// function that calls nothing may keep values.
    private boolean isPlace(int i) {
        return SiteChooser.isEmulated(code, places[i]) && !SiteChooser.isLongestNop(code, places[i]);
    }
}
