package io.dyber.zernel.record.elf.x86;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// Parts of a function that lie elsewhere, as compilers put what seldom runs, such as handlers of exceptions.
final class ColdCode {
    private static final int MOST = 4096;

    private final int length;
    private final Surroundings around;
    private final Set<Integer> back = new TreeSet<>();
    private final Set<Integer> seen = new HashSet<>();
    private final Deque<Integer> open = new ArrayDeque<>();

    private ColdCode(int length, Surroundings around) {
        this.length = length;
        this.around = around;
    }

    /// Where such code leads back into the function.
    ///
    /// @param places to which the function jumps out with its frame on the stack
    /// @param length of the function
    /// @return empty when it cannot be read, or is more than a part of one function
    static Optional<Set<Integer>> leadsBack(List<Integer> places, int length, Surroundings around) {
        ColdCode cold = new ColdCode(length, around);
        cold.open.addAll(places);
        int read = 0;
        while (!cold.open.isEmpty() && read >= 0 && read < MOST) {
            read = cold.follow(cold.open.poll(), read);
        }
        return read >= 0 && read < MOST ? Optional.of(cold.back) : Optional.empty();
    }

    /// Goes through code up to where it goes on elsewhere.
    ///
    /// @param before how many instructions were looked at before
    /// @return how many were now, or -1 when something is no instruction
    private int follow(int start, int before) {
        byte[] code = around.code(start);
        int read = before;
        for (int at = 0; read < MOST && seen.add(start + at); read++) {
            int size = InstructionLength.of(code, at);
            if (size == 0 && at == 0) {
                return -1;
            }
            if (size == 0) {
                // What was read may end within it.
                open.add(start + at);
                boolean _ = seen.remove(start + at);
                break;
            }
            Instruction one = new Instruction(code, at, size);
            if (one.jumps() || one.branches()) {
                goOn(start + one.target());
            }
            if (one.endsWay() || (one.calls() && one.neverReturns(around, start))) {
                break;
            }
            at = one.end();
        }
        return read;
    }

    private void goOn(int place) {
        if (place >= 0 && place < length) {
            back.add(place);
        } else {
            open.add(place);
        }
    }
}
