package io.dyber.zernel.record.elf.x86;

/// How many bytes an x86-64 instruction has. Source: Intel SDM volume 2, chapter 2 (prefixes, ModRM, VEX and EVEX) and
/// appendix A (opcode maps).
final class InstructionLength {
    private static final int LONGEST = 15;

    private final byte[] code;
    private int at;
    private boolean operand16;
    private boolean address32;
    private boolean wide;

    private InstructionLength(byte[] code, int at) {
        this.code = code;
        this.at = at;
    }

    /// The length, or 0 for what is not a whole instruction of 64-bit mode.
    static int of(byte[] code, int start) {
        InstructionLength instruction = new InstructionLength(code, start);
        boolean whole = instruction.skip();
        int length = instruction.at - start;
        return whole && instruction.at <= code.length && length <= LONGEST ? length : 0;
    }

    /// Whether the byte is a legacy or REX prefix.
    static boolean isPrefix(int b) {
        return switch (b) {
            case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3 -> true;
            default -> b >= 0x40 && b <= 0x4f;
        };
    }

    private boolean skip() {
        while (isPrefix(peek())) {
            int prefix = next();
            operand16 |= prefix == 0x66;
            address32 |= prefix == 0x67;
            wide = (prefix & 0xf8) == 0x48;
        }
        int op = next();
        return switch (op) {
            case 0x0f -> twoBytes(next());
            case 0xc5 -> vector(1, 1);
            case 0xc4 -> vector(peek() & 0x1f, 2);
            case 0x62 -> vector(peek() & 7, 3);
            default -> oneByte(op);
        };
    }

    /// What follows the first byte of a VEX or EVEX prefix.
    private boolean vector(int map, int payload) {
        at += payload;
        int op = next();
        if (map == 1 && op == 0x77) {
            return true; // vzeroupper, vzeroall
        }
        boolean immediate = map == 3 || (map == 1 && isMap1WithImmediate(op));
        return map >= 1 && map <= 6 && modrm() && bytes(immediate ? 1 : 0);
    }

    private boolean twoBytes(int op) {
        if (op >= 0x80 && op <= 0x8f) {
            return bytes(4);
        }
        if (op >= 0xc8 && op <= 0xcf) {
            return true;
        }
        return switch (op) {
            case 0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0e, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x37, 0x77, 0xa0, 0xa1,
                    0xa2, 0xa8, 0xa9, 0xaa -> true;
            case 0x04, 0x0a, 0x0c, 0x24, 0x25, 0x26, 0x27, 0x36, 0x39, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, -1 -> false;
            case 0x38 -> next() >= 0 && modrm();
            case 0x3a -> next() >= 0 && modrm() && bytes(1);
            case 0x0f, 0xa4, 0xac, 0xba -> modrm() && bytes(1);
            default -> modrm() && bytes(isMap1WithImmediate(op) ? 1 : 0);
        };
    }

    private static boolean isMap1WithImmediate(int op) {
        return (op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
    }

    private boolean oneByte(int op) {
        if (op < 0x40) {
            return switch (op & 7) {
                case 4 -> bytes(1);
                case 5 -> immediate();
                case 6, 7 -> false;
                default -> modrm();
            };
        }
        if ((op >= 0x50 && op <= 0x5f) || (op >= 0x90 && op <= 0x99)) {
            return true;
        }
        if ((op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xb7) || (op >= 0xe0 && op <= 0xe7)) {
            return bytes(1);
        }
        if (op >= 0xb8 && op <= 0xbf) {
            return wide ? bytes(8) : immediate();
        }
        return switch (op) {
            case 0x63, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0xd0, 0xd1, 0xd2, 0xd3,
                    0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xfe, 0xff -> modrm();
            case 0x80, 0x83, 0x6b, 0xc0, 0xc1, 0xc6 -> modrm() && bytes(1);
            case 0x81, 0x69, 0xc7 -> modrm() && immediate();
            case 0xf6 -> modrmOfTest(1);
            case 0xf7 -> modrmOfTest(operand16 && !wide ? 2 : 4);
            case 0x6a, 0xa8, 0xcd, 0xeb -> bytes(1);
            case 0x68, 0xa9 -> immediate();
            case 0xe8, 0xe9 -> bytes(4);
            case 0xc2, 0xca -> bytes(2);
            case 0xc8 -> bytes(3);
            case 0xa0, 0xa1, 0xa2, 0xa3 -> bytes(address32 ? 4 : 8);
            case 0x6c, 0x6d, 0x6e, 0x6f, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad,
                    0xae, 0xaf, 0xc3, 0xc9, 0xcb, 0xcc, 0xcf, 0xd7, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xf5, 0xf8,
                    0xf9, 0xfa, 0xfb, 0xfc, 0xfd -> true;
            default -> false;
        };
    }

    /// Of this group, only `test` has an immediate operand.
    private boolean modrmOfTest(int immediate) {
        boolean test = (peek() >> 3 & 7) <= 1;
        return modrm() && bytes(test ? immediate : 0);
    }

    private boolean immediate() {
        return bytes(operand16 && !wide ? 2 : 4);
    }

    private boolean modrm() {
        int modrm = next();
        int mod = modrm >> 6;
        int base = modrm & 7;
        if (modrm < 0 || mod == 3) {
            return modrm >= 0;
        }
        if (base == 4) {
            base = next() & 7;
        }
        int displacement = mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0;
        return bytes(displacement);
    }

    private boolean bytes(int count) {
        at += count;
        return at <= code.length;
    }

    private int peek() {
        return at < code.length ? code[at] & 0xff : -1;
    }

    private int next() {
        int b = peek();
        at++;
        return b;
    }
}
