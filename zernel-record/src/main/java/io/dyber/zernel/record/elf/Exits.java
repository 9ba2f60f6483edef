package io.dyber.zernel.record.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Finds the instructions by which an x86-64 function may be left for good: `ret`, jumps out of it (the calls at its end
/// that became jumps) and indirect jumps. Some of the latter only choose a case of a switch; with a frame on the stack
/// they are told apart when they are hit. Conditional jumps out of a function are left out: they hit also when they are
/// not taken.
public final class Exits {
    private Exits() {}

    /// Places in the code of one whole function, or empty when it holds bytes that are no known instruction.
    public static Optional<List<Integer>> of(byte[] code) {
        List<Integer> exits = new ArrayList<>();
        int at = 0;
        while (at < code.length) {
            int length = InstructionLength.of(code, at);
            if (length == 0) {
                return Optional.empty();
            }
            if (leaves(code, at, length)) {
                exits.add(at);
            }
            at += length;
        }
        return Optional.of(exits);
    }

    private static boolean leaves(byte[] code, int at, int length) {
        int end = at + length;
        int op = at;
        boolean switches = false;
        while (InstructionLength.isPrefix(code[op] & 0xff)) {
            switches |= code[op] == 0x3e; // notrack, which compilers write before a jump into a switch
            op++;
        }
        return switch (code[op] & 0xff) {
            case 0xc2, 0xc3 -> true;
            case 0xeb -> isOutside(code, end + code[op + 1]);
            case 0xe9 -> isOutside(code, end + int32(code, op + 1));
            case 0xff -> (code[op + 1] >> 3 & 7) == 4 && !switches;
            default -> false;
        };
    }

    private static boolean isOutside(byte[] code, int target) {
        return target < 0 || target >= code.length;
    }

    private static int int32(byte[] code, int at) {
        return (code[at] & 0xff)
                | ((code[at + 1] & 0xff) << 8)
                | ((code[at + 2] & 0xff) << 16)
                | (code[at + 3] << 24);
    }
}
