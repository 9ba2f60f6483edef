package io.dyber.zernel.record.elf;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.SortedMap;

/// How many bytes a function has put on the stack, before each of its instructions, as far as the jumps between them tell.
///
/// What only a jump table or an exception leads to is taken to run with the whole frame on the stack, where there is one.
final class StackHeights {
    private static final int NOT_SEEN = Integer.MIN_VALUE;
    private static final int WHOLE_FRAME = 1 << 28;

    private final SortedMap<Integer, Instruction> instructions;
    private final int[] heights;

    private StackHeights(SortedMap<Integer, Instruction> instructions, int length) {
        this.instructions = instructions;
        this.heights = new int[length];
        Arrays.fill(heights, NOT_SEEN);
    }

    static StackHeights of(SortedMap<Integer, Instruction> instructions, int length) {
        StackHeights all = new StackHeights(instructions, length);
        all.follow(0, 0);
        boolean framed = Arrays.stream(all.heights).anyMatch(height -> height > 0);
        instructions.keySet().forEach(at -> all.follow(at, framed ? WHOLE_FRAME : 0));
        return all;
    }

    /// Whether the stack pointer may be there what it was at the function's start.
    boolean mayBeAsAtStart(int at) {
        int height = heights[at];
        return height <= 0 || (height < WHOLE_FRAME && height > WHOLE_FRAME / 2);
    }

    private void follow(int start, int startHeight) {
        Deque<int[]> open = new ArrayDeque<>();
        open.push(new int[] {start, startHeight});
        while (!open.isEmpty()) {
            int[] next = open.pop();
            int at = next[0];
            int height = next[1];
            Instruction instruction = instructions.get(at);
            while (instruction != null && heights[at] == NOT_SEEN) {
                heights[at] = height;
                if (instruction.jumps() || instruction.branches()) {
                    open.push(new int[] {instruction.target(), height});
                }
                if (instruction.jumps() || instruction.returns() || instruction.jumpsIndirectly()) {
                    break;
                }
                height = instruction.heightAfter(height);
                at = instruction.end();
                instruction = instructions.get(at);
            }
        }
    }
}
