package io.dyber.zernel.record.elf.x86;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// The instructions by which an x86-64 function may be left for good: `ret`, and jumps out of it where the stack may be as
/// at its start (the calls at its end that became jumps), also indirect ones. Conditional jumps out of a function are not
/// among them: a probe there is hit also when they are not taken.
///
/// @param returns where in the code the `ret`s are; a function that never returns has none
/// @param earlier emulated instructions, one of which is passed on each way to a `ret` when all is done but to free memory; empty
///     where that cannot be had
/// @param jumps where the jumps are
/// @param indirect whether one of them is an indirect one, which the kernel single-steps
/// @param simple whether the function runs no code but its own, on one stack, and returns
public record Exits(List<Integer> returns, List<Exit> earlier, List<Integer> jumps, boolean indirect, boolean simple) {
    public Exits {
        returns = List.copyOf(returns);
        earlier = List.copyOf(earlier);
        jumps = List.copyOf(jumps);
    }

    /// Those of the code of one whole function, or empty when it holds bytes that are no known instruction, or jumps between
    /// two instructions: then it holds something else too.
    public static Optional<Exits> of(byte[] code, Surroundings around) {
        SortedMap<Integer, Instruction> instructions = new TreeMap<>();
        int at = 0;
        while (at < code.length) {
            int length = InstructionLength.of(code, at);
            if (length == 0) {
                return Optional.empty();
            }
            instructions.put(at, new Instruction(code, at, length));
            at += length;
        }
        boolean fits = instructions.values().stream()
                .filter(instruction -> instruction.jumps() || instruction.branches())
                .allMatch(jump -> jump.leadsOut() || isWhole(instructions, jump.target()));
        return fits ? Optional.of(among(code, instructions, around)) : Optional.empty();
    }

    private static Exits among(byte[] code, SortedMap<Integer, Instruction> instructions, Surroundings around) {
        StackHeights heights = StackHeights.of(instructions, code.length);
        List<Integer> returns = new ArrayList<>();
        List<Integer> jumps = new ArrayList<>();
        boolean simple = true;
        boolean indirect = false;
        for (Map.Entry<Integer, Instruction> entry : instructions.entrySet()) {
            int at = entry.getKey();
            Instruction instruction = entry.getValue();
            boolean jumpsOut = (instruction.jumps() && instruction.leadsOut())
                    || (instruction.jumpsIndirectly() && !instruction.isOfSwitch());
            if (instruction.returns()) {
                returns.add(at);
            } else if (jumpsOut && heights.mayBeAsAtStart(at)) {
                jumps.add(at);
                indirect |= instruction.jumpsIndirectly();
            }
            simple &= !jumpsOut && !instruction.leadsOut() && !instruction.calls() && !instruction.setsStackPointer();
        }
        List<Exit> earlier = WaysOut.emulated(code, instructions, heights, around);
        return new Exits(returns, earlier, jumps, indirect, simple && !returns.isEmpty());
    }

    /// Behind a `lock` that only several threads need, there is a jump that passes it.
    private static boolean isWhole(SortedMap<Integer, Instruction> instructions, int target) {
        Instruction before = instructions.get(target - 1);
        return instructions.containsKey(target) || (before != null && before.isLocked());
    }
}
