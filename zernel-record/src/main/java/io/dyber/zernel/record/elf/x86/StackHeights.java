package io.dyber.zernel.record.elf.x86;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// How many bytes a function has put on the stack, before each of its instructions, as far as the jumps between them tell.
///
/// What only a jump table or an exception leads to is taken to run with the whole frame on the stack, where there is one.
final class StackHeights {
    private final SortedMap<Integer, Instruction> instructions;
    private final @Nullable StackHeight[] heights;
    private boolean exact = true;

    private StackHeights(SortedMap<Integer, Instruction> instructions, int length) {
        this.instructions = instructions;
        this.heights = new @Nullable StackHeight[length];
    }

    static StackHeights of(SortedMap<Integer, Instruction> instructions, int length) {
        StackHeights all = new StackHeights(instructions, length);
        all.follow(0, StackHeight.AT_START);
        boolean framed = Arrays.stream(all.heights).anyMatch(height -> height != null && height.bytes() > 0);
        StackHeight elsewhere = framed ? StackHeight.OF_A_FRAME : StackHeight.AT_START;
        instructions.keySet().forEach(at -> all.follow(at, elsewhere));
        all.exact &= all.fits();
        return all;
    }

    /// Whether the stack pointer may be there what it was at the function's start.
    boolean mayBeAsAtStart(int at) {
        StackHeight height = heights[at];
        return height == null || height.mayBeAsAtStart();
    }

    /// How many bytes lie there above the return address; empty when that is not certain.
    OptionalInt exactly(int at) {
        StackHeight height = heights[at];
        return exact && height != null && !height.unknownFrame() ? OptionalInt.of(height.bytes()) : OptionalInt.empty();
    }

    /// Whether nothing but the return address is left at each `ret` that was reached, and no instruction that was reached does
    /// to the stack pointer what is not followed.
    private boolean fits() {
        for (Map.Entry<Integer, Instruction> entry : instructions.entrySet()) {
            StackHeight height = heights[entry.getKey()];
            Instruction instruction = entry.getValue();
            if (height != null
                    && !height.unknownFrame()
                    && (instruction.losesStackPointer() || (instruction.returns() && height.bytes() != 0))) {
                return false;
            }
        }
        return true;
    }

    /// A place to go on from.
    private record Open(int at, StackHeight height) {}

    private void follow(int start, StackHeight startHeight) {
        Deque<Open> open = new ArrayDeque<>();
        open.push(new Open(start, startHeight));
        while (!open.isEmpty()) {
            Open next = open.pop();
            int at = next.at();
            StackHeight height = next.height();
            Instruction instruction = instructions.get(at);
            while (instruction != null && heights[at] == null) {
                heights[at] = height;
                if (instruction.jumps() || instruction.branches()) {
                    open.push(new Open(instruction.target(), height));
                }
                if (instruction.jumps() || instruction.returns() || instruction.jumpsIndirectly()) {
                    break;
                }
                height = instruction.heightAfter(height);
                at = instruction.end();
                instruction = instructions.get(at);
            }
            StackHeight other = instruction == null ? null : heights[at];
            exact &= other == null || other.equals(height) || height.unknownFrame();
        }
    }
}
