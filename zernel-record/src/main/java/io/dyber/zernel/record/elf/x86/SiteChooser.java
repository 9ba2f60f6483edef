package io.dyber.zernel.record.elf.x86;

import java.util.OptionalInt;

/// Finds the cheapest instruction at the start of an x86-64 function to put a uprobe on.
///
/// The kernel emulates a few instructions under a probe and single-steps all others, which costs up to 19 times as
/// much. Most library functions start with `endbr64` or a `cmp` and have a cheap instruction right after it. The
/// walk passes only instructions, known by their exact bytes, that leave the stack pointer and the arguments alone,
/// so that arguments and the return address are found there as at the very start. Anything else ends the walk at
/// the function's first byte, which is slow but right: a probe inside an instruction would corrupt the program.
public final class SiteChooser {
    /// Enough code for [#choose] to see every short jump back to the start.
    public static final int LOOK_AHEAD = 4096;

    private static final int MAX_STEPS = 4;
    private static final int[] END_BRANCH = {0xf3, 0x0f, 0x1e, 0xfa}; // endbr64
    private static final Site AT_START = new Site(0, Site.Cost.SINGLE_STEPPED);

    private SiteChooser() {}

    /// Chooses for the function whose code begins at `code[0]`; the array may hold less or more than the function.
    public static Site choose(byte[] code) {
        int at = 0;
        for (int step = 0; step <= MAX_STEPS; step++) {
            if (isEmulated(code, at)) {
                boolean alone = at == 0 || isPush(code, at) || !isJumpedTo(code, at);
                return alone ? new Site(at, Site.Cost.EMULATED) : AT_START;
            }
            int length = passable(code, at);
            if (length == 0) {
                return AT_START;
            }
            at += length;
        }
        return AT_START;
    }

    /// The same for a function of which nothing is read but the 64 bits that lie `offset` bytes behind its first argument. Some read
    /// them first, and perhaps add something; C++ methods do that to reach an object that a reference holds.
    public static Site chooseBehind(byte[] code, int offset) {
        int at = behindEndBranch(code);
        if (offset == 0 && matches(code, at, 0x48, 0x8b, 0x3f)) {
            at += 3; // mov (%rdi),%rdi
        } else if (matches(code, at, 0x48, 0x8b, 0x7f) && has(code, at, 4) && code[at + 3] == offset) {
            at += 4; // mov offset(%rdi),%rdi
        } else {
            return AT_START;
        }
        int added = 0;
        if (matches(code, at, 0x48, 0x83, 0xc7) && has(code, at, 4)) {
            added = code[at + 3]; // add $imm8,%rdi
            at += 4;
        }
        boolean fits = isEmulated(code, at) && (isPush(code, at) || !isJumpedTo(code, at));
        return fits ? new Site(at, Site.Cost.EMULATED, OptionalInt.of(added)) : AT_START;
    }

    /// Where code goes on behind an `endbr64` at its start, if there is one.
    static int behindEndBranch(byte[] code) {
        return matches(code, 0, END_BRANCH) ? END_BRANCH.length : 0;
    }

    /// Whether the kernel emulates the instruction.
    static boolean isEmulated(byte[] code, int at) {
        int op = at(code, at);
        return switch (op) {
            case 0x90 -> true;
            case 0x66 -> at(code, at + 1) == 0x90;
            case 0xeb -> has(code, at, 2);
            case 0xe8, 0xe9 -> has(code, at, 5);
            case 0x0f -> isLongJump(code, at) || isLongNop(code, at);
            default -> isPush(code, at) || (isShortJump(op) && has(code, at, 2));
        };
    }

    private static boolean isPush(byte[] code, int at) {
        int op = at(code, at) == 0x41 ? at(code, at + 1) : at(code, at);
        return op >= 0x50 && op <= 0x57;
    }

    private static boolean isShortJump(int op) {
        return op >= 0x70 && op <= 0x7f;
    }

    private static boolean isLongJump(byte[] code, int at) {
        return at(code, at) == 0x0f && (at(code, at + 1) & 0xf0) == 0x80 && has(code, at, 6);
    }

    /// The nops of 3 to 5 bytes, since Linux 6.16; longer ones are not taken.
    static boolean isLongNop(byte[] code, int at) {
        return matches(code, at, 0x0f, 0x1f, 0x00)
                || matches(code, at, 0x0f, 0x1f, 0x40, 0x00)
                || matches(code, at, 0x0f, 0x1f, 0x44, 0x00, 0x00);
    }

    /// The length of an instruction that may lie before the probe; 0 for all others.
    private static int passable(byte[] code, int at) {
        if (matches(code, at, END_BRANCH)) {
            return END_BRANCH.length;
        }
        int prefix = (at(code, at) & 0xf0) == 0x40 ? 1 : 0;
        int length = prefix + comparison(at(code, at + prefix), at(code, at + prefix + 1));
        return length > prefix && has(code, at, length) ? length : 0;
    }

    /// The length of a comparison without its REX prefix; 0 for anything else.
    private static int comparison(int op, int operands) {
        return switch (op) {
            case 0x81 -> operands == 0x3d ? 10 : 0; // cmp $imm32,disp32(%rip)
            case 0x80 -> operands == 0x3d ? 7 : 0; // cmpb $imm8,disp32(%rip)
            case 0x83 -> operands == 0x3d ? 7 : operands >= 0xf8 ? 3 : 0; // cmp $imm8,disp32(%rip); cmp $imm8,%reg
            case 0x84, 0x85 -> operands >= 0xc0 ? 2 : 0; // test %reg,%reg
            default -> 0;
        };
    }

    /// Whether some byte after `site` could be a jump back to it or to an instruction before it, as in a function
    /// whose whole body is a loop: there the probe would be hit in each round. Bytes that only look like a jump
    /// count too. The start itself is no danger: going there is a new call.
    private static boolean isJumpedTo(byte[] code, int site) {
        for (int at = site; at < code.length; at++) {
            int op = at(code, at);
            int target = -1;
            if ((isShortJump(op) || op == 0xeb) && has(code, at, 2)) {
                target = at + 2 + code[at + 1];
            } else if (op == 0xe9 && has(code, at, 5)) {
                target = at + 5 + int32(code, at + 1);
            } else if (isLongJump(code, at)) {
                target = at + 6 + int32(code, at + 2);
            }
            if (target > 0 && target <= site) {
                return true;
            }
        }
        return false;
    }

    private static boolean matches(byte[] code, int at, int... expected) {
        for (int i = 0; i < expected.length; i++) {
            if (at(code, at + i) != expected[i]) {
                return false;
            }
        }
        return true;
    }

    private static boolean has(byte[] code, int at, int length) {
        return at + length <= code.length;
    }

    private static int at(byte[] code, int at) {
        return at < code.length ? code[at] & 0xff : -1;
    }

    private static int int32(byte[] code, int at) {
        return at(code, at) | at(code, at + 1) << 8 | at(code, at + 2) << 16 | at(code, at + 3) << 24;
    }
}
