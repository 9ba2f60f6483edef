package io.dyber.zernel.record.elf.x86;

import java.util.OptionalInt;

/// One x86-64 instruction: where it goes on and what it does to the stack pointer.
final class Instruction {
    private static final int RSP = 4;
    private static final int RBP = 5;

    /// That of a function whose frame pointer is the stack pointer: it has pushed the caller's.
    private static final StackHeight BEHIND_FRAME_POINTER = StackHeight.known(8);

    private final byte[] code;
    private final int at;
    private final int op;
    private final int end;

    Instruction(byte[] code, int at, int length) {
        this.code = code;
        this.at = at;
        int opcode = at;
        while (InstructionLength.isPrefix(code[opcode] & 0xff)) {
            opcode++;
        }
        this.op = opcode;
        this.end = at + length;
    }

    /// Where in the code the next one begins.
    int end() {
        return end;
    }

    boolean returns() {
        return opcode() == 0xc3 || opcode() == 0xc2;
    }

    boolean jumps() {
        return opcode() == 0xeb || opcode() == 0xe9;
    }

    boolean branches() {
        int op = opcode();
        return (op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3) || (op == 0x0f && (byteAt(1) & 0xf0) == 0x80);
    }

    /// Whether it is a jump or branch to somewhere outside of the code.
    boolean leadsOut() {
        return (jumps() || branches()) && (target() < 0 || target() >= code.length);
    }

    /// Where a jump or branch leads.
    int target() {
        boolean isShort = opcode() != 0xe9 && opcode() != 0x0f;
        return end + (isShort ? code[end - 1] : int32(end - 4));
    }

    boolean jumpsIndirectly() {
        return opcode() == 0xff && (register() == 4 || register() == 5);
    }

    /// Whether the jump is marked as one that a table in memory guards, which compilers do to those of a switch.
    boolean isOfSwitch() {
        return has(0x3e);
    }

    /// Whether something else runs before the next instruction.
    boolean calls() {
        int op = opcode();
        boolean system = op == 0x0f && (byteAt(1) == 0x05 || byteAt(1) == 0x34);
        return op == 0xe8 || system || (op == 0xff && (register() == 2 || register() == 3));
    }

    /// Whether it calls what frees memory.
    boolean frees(Surroundings around) {
        boolean throughPointer = opcode() == 0xff && register() == 2 && pointer().isPresent();
        return opcode() == 0xe8
                ? around.frees(end + int32(end - 4))
                : throughPointer && around.isPointerToFreeing(pointer().getAsInt());
    }

    /// Where its operand in memory lies, of one that is given by its distance from the instruction and ends with that.
    OptionalInt pointer() {
        boolean relative = byteAt(1) >> 6 == 0 && operand() == RBP;
        return relative ? OptionalInt.of(end + int32(end - 4)) : OptionalInt.empty();
    }

    /// Whether it calls what is known not to come back, in code that begins at `start`.
    boolean neverReturns(Surroundings around, int start) {
        return opcode() == 0xe8 && around.neverReturns(start + end + int32(end - 4));
    }

    /// Whether the next instruction does not run after it.
    boolean endsWay() {
        boolean undefined = opcode() == 0x0f && byteAt(1) == 0x0b;
        return jumps() || returns() || jumpsIndirectly() || undefined || opcode() == 0xf4;
    }

    /// Whether it copies, fills or compares as much memory as a register says.
    boolean repeats() {
        int op = opcode();
        boolean ofStrings = (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf);
        return ofStrings && (has(0xf2) || has(0xf3));
    }

    boolean isLocked() {
        return has(0xf0);
    }

    /// Whether the stack pointer becomes what another register or memory holds, other than the frame pointer.
    boolean setsStackPointer() {
        return switch (opcode()) {
            case 0x5c -> !rex(0);
            case 0x87 -> movesTo(operand(), 0) || movesTo(register(), 2);
            case 0x89 -> movesTo(operand(), 0) && register() != RBP;
            case 0x8b -> movesTo(register(), 2) && !(isOfRegisters() && operand() == RBP);
            case 0x94 -> wide() && !rex(0);
            default -> false;
        };
    }

    /// Whether it does to the stack pointer what [#heightAfter] does not follow.
    boolean losesStackPointer() {
        int op = opcode();
        boolean computed = op < 0x38
                && (((op & 7) == 1 && movesTo(operand(), 0)) || ((op & 7) == 3 && movesTo(register(), 2)));
        boolean masked = (op == 0x81 || op == 0x83)
                && movesTo(operand(), 0)
                && register() != 0
                && register() != 5
                && register() != 7;
        return computed || masked || setsStackPointer() || op == 0xc8 || (op == 0x8d && isAddressFromElsewhere());
    }

    private boolean isAddressFromElsewhere() {
        if (!wide() || rex(2) || register() != RSP) {
            return false;
        }
        boolean ofStackPointer = !rex(0) && !rex(1) && operand() == RSP && byteAt(2) == 0x24;
        return !ofStackPointer && (rex(0) || operand() != RBP || byteAt(1) >> 6 == 0);
    }

    /// How far the stack has grown after it.
    StackHeight heightAfter(StackHeight height) {
        int op = opcode();
        if ((op >= 0x50 && op <= 0x57) || op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && register() == 6)) {
            return height.plus(8);
        }
        if ((op >= 0x58 && op <= 0x5f) || op == 0x8f || op == 0x9d) {
            return height.plus(-8);
        }
        return switch (op) {
            case 0x81, 0x83 -> heightAfterArithmetic(height);
            case 0x8d -> heightAfterAddress(height);
            case 0x89 -> movesTo(operand(), 0) && register() == RBP ? BEHIND_FRAME_POINTER : height;
            case 0x8b -> movesTo(register(), 2) && isOfRegisters() && operand() == RBP ? BEHIND_FRAME_POINTER : height;
            case 0xc9 -> StackHeight.AT_START;
            default -> height;
        };
    }

    private StackHeight heightAfterArithmetic(StackHeight height) {
        if (!movesTo(operand(), 0)) {
            return height;
        }
        int amount = opcode() == 0x83 ? code[end - 1] : int32(end - 4);
        return switch (register()) {
            case 0 -> height.plus(-amount);
            case 5 -> height.plus(amount);
            default -> height;
        };
    }

    /// `lea` of the stack pointer, from itself, from the frame pointer, or from where the caller's was kept.
    private StackHeight heightAfterAddress(StackHeight height) {
        if (!wide() || rex(2) || register() != RSP) {
            return height;
        }
        int mod = byteAt(1) >> 6;
        int amount = mod == 1 ? code[end - 1] : mod == 2 ? int32(end - 4) : 0;
        boolean based = !rex(0);
        if (based && operand() == RSP && byteAt(2) == 0x24) {
            return height.plus(-amount);
        }
        return based && operand() == RBP ? BEHIND_FRAME_POINTER.plus(-amount) : StackHeight.AT_START;
    }

    /// Whether this operand of 64 bits is the stack pointer.
    private boolean movesTo(int register, int extension) {
        return wide() && !rex(extension) && register == RSP && (extension == 2 || isOfRegisters());
    }

    private boolean isOfRegisters() {
        return byteAt(1) >> 6 == 3;
    }

    private int register() {
        return byteAt(1) >> 3 & 7;
    }

    private int operand() {
        return byteAt(1) & 7;
    }

    private boolean wide() {
        return rex(3);
    }

    /// A bit of the REX prefix: 0 for the operand, 2 for the register, 3 for 64 bits.
    private boolean rex(int bit) {
        int rex = op > at ? code[op - 1] & 0xff : 0;
        return (rex & 0xf0) == 0x40 && (rex >> bit & 1) == 1;
    }

    private boolean has(int prefix) {
        for (int i = at; i < op; i++) {
            if ((code[i] & 0xff) == prefix) {
                return true;
            }
        }
        return false;
    }

    private int opcode() {
        return code[op] & 0xff;
    }

    private int byteAt(int behind) {
        return op + behind < end ? code[op + behind] & 0xff : 0;
    }

    private int int32(int place) {
        return (code[place] & 0xff)
                | ((code[place + 1] & 0xff) << 8)
                | ((code[place + 2] & 0xff) << 16)
                | (code[place + 3] << 24);
    }
}
