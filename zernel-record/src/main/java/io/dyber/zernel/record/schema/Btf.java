package io.dyber.zernel.record.schema;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// BPF type information, parsed: the types of a BPF object or of the running kernel.
///
/// Layout as in the kernel's `Documentation/bpf/btf.rst`. Immutable. Type ids are indices, 0 is void.
public final class Btf {
    private static final int MAGIC = 0xeB9F;

    /// One BTF type. Only what the recorder reads is kept; the rest is an [Other].
    public sealed interface Type {}

    public record Int(String name, int size) implements Type {}

    public record Pointer(int target) implements Type {}

    public record Array(int element, int count) implements Type {}

    public record Struct(String name, int size, List<Member> members) implements Type {}

    public record Typedef(String name, int target) implements Type {}

    public record Var(String name, int type) implements Type {}

    public record Section(String name, List<SectionVar> vars) implements Type {}

    /// A note on a type (`component` -1) or on member number `component` of it.
    public record Tag(String text, int target, int component) implements Type {}

    public record Function(String name, int prototype) implements Type {}

    public record Prototype(int parameters) implements Type {}

    public record Other(int kind, String name) implements Type {}

    /// A member of a struct.
    ///
    /// @param offset bytes from the start of the struct; -1 for a bit field
    public record Member(String name, int type, int offset) {}

    public record SectionVar(int var, int offset, int size) {}

    private final List<Type> types;

    private Btf(List<Type> types) {
        this.types = types;
    }

    /// Parses raw BTF.
    ///
    /// @throws IllegalArgumentException when the bytes are not BTF or are cut short
    public static Btf parse(byte[] raw) {
        try {
            return new Btf(readTypes(ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN)));
        } catch (IndexOutOfBoundsException | java.nio.BufferUnderflowException e) {
            throw new IllegalArgumentException("parsing BTF: unexpected end of data", e);
        }
    }

    /// The type information of a BPF object file: its ELF section `.BTF`.
    ///
    /// @throws IllegalArgumentException when the bytes are not such a file
    public static Btf ofObject(byte[] elf) {
        ByteBuffer file = ByteBuffer.wrap(elf).order(ByteOrder.LITTLE_ENDIAN);
        try {
            int headers = (int) file.getLong(40);
            int headerSize = file.getShort(58);
            int count = file.getShort(60);
            int names = (int) file.getLong(headers + file.getShort(62) * headerSize + 24);
            for (int i = 0; i < count; i++) {
                int header = headers + i * headerSize;
                if (string(file, names + file.getInt(header)).equals(".BTF")) {
                    byte[] section = new byte[(int) file.getLong(header + 32)];
                    file.get((int) file.getLong(header + 24), section);
                    return parse(section);
                }
            }
        } catch (IndexOutOfBoundsException e) {
            throw new IllegalArgumentException("reading a BPF object: unexpected end of data", e);
        }
        throw new IllegalArgumentException("reading a BPF object: no .BTF section");
    }

    public Type type(int id) {
        return types.get(id);
    }

    public int size() {
        return types.size();
    }

    /// The struct with this tag, empty when there is none.
    public Optional<Struct> struct(String name) {
        for (Type type : types) {
            if (type instanceof Struct struct && struct.name().equals(name)) {
                return Optional.of(struct);
            }
        }
        return Optional.empty();
    }

    /// The variables of a data section such as `.rodata`, empty when there is none.
    public List<SectionVar> sectionVars(String section) {
        for (Type type : types) {
            if (type instanceof Section found && found.name().equals(section)) {
                return found.vars();
            }
        }
        return List.of();
    }

    /// How many parameters the kernel function takes, empty when the kernel has no such function.
    public Optional<Integer> parametersOf(String function) {
        for (Type type : types) {
            if (type instanceof Function found
                    && found.name().equals(function)
                    && types.get(found.prototype()) instanceof Prototype prototype) {
                return Optional.of(prototype.parameters());
            }
        }
        return Optional.empty();
    }

    /// The size of a value of type `id` in bytes; 0 for what has none.
    public int sizeOf(int id) {
        return switch (types.get(id)) {
            case Int type -> type.size();
            case Pointer _ -> 8;
            case Array type -> type.count() * sizeOf(type.element());
            case Struct type -> type.size();
            case Typedef type -> sizeOf(type.target());
            case Var type -> sizeOf(type.type());
            case Section _, Tag _, Function _, Prototype _, Other _ -> 0;
        };
    }

    private static List<Type> readTypes(ByteBuffer data) {
        if (data.remaining() < 24 || Short.toUnsignedInt(data.getShort(0)) != MAGIC) {
            throw new IllegalArgumentException("parsing BTF: bad magic number");
        }
        int header = data.getInt(4);
        ByteBuffer in = data.slice(header + data.getInt(8), data.getInt(12)).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer strings = data.slice(header + data.getInt(16), data.getInt(20));
        List<Type> types = new ArrayList<>();
        types.add(new Other(0, "void"));
        while (in.hasRemaining()) {
            types.add(readType(in, strings));
        }
        return List.copyOf(types);
    }

    private static Type readType(ByteBuffer in, ByteBuffer strings) {
        String name = string(strings, in.getInt());
        int info = in.getInt();
        int sizeOrType = in.getInt();
        int length = info & 0xffff;
        int kind = info >>> 24 & 0x1f;
        boolean bitFields = info < 0;
        return switch (kind) {
            case 1 -> {
                skip(in, 4);
                yield new Int(name, sizeOrType);
            }
            case 2 -> new Pointer(sizeOrType);
            case 3 -> {
                int element = in.getInt();
                skip(in, 4);
                yield new Array(element, in.getInt());
            }
            case 4, 5 -> new Struct(name, sizeOrType, members(in, strings, length, bitFields));
            case 8, 9, 10, 11, 18 -> new Typedef(name, sizeOrType);
            case 12 -> new Function(name, sizeOrType);
            case 13 -> {
                skip(in, 8 * length);
                yield new Prototype(length);
            }
            case 14 -> {
                skip(in, 4);
                yield new Var(name, sizeOrType);
            }
            case 15 -> new Section(name, sectionVars(in, length));
            case 17 -> new Tag(name, sizeOrType, in.getInt());
            case 6 -> {
                skip(in, 8 * length);
                yield new Int(name, sizeOrType);
            }
            case 19 -> {
                skip(in, 12 * length);
                yield new Int(name, sizeOrType);
            }
            case 7, 16 -> new Other(kind, name);
            default -> throw new IllegalArgumentException("parsing BTF: unknown kind " + kind);
        };
    }

    private static List<Member> members(ByteBuffer in, ByteBuffer strings, int count, boolean bitFields) {
        List<Member> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String name = string(strings, in.getInt());
            int type = in.getInt();
            int offset = in.getInt();
            boolean isBitField = (bitFields && offset >>> 24 != 0) || (offset & 7) != 0;
            members.add(new Member(name, type, isBitField ? -1 : (bitFields ? offset & 0xffffff : offset) / 8));
        }
        return List.copyOf(members);
    }

    private static List<SectionVar> sectionVars(ByteBuffer in, int count) {
        List<SectionVar> vars = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            vars.add(new SectionVar(in.getInt(), in.getInt(), in.getInt()));
        }
        return List.copyOf(vars);
    }

    private static void skip(ByteBuffer in, int bytes) {
        in.position(Math.addExact(in.position(), bytes));
    }

    private static String string(ByteBuffer strings, int offset) {
        int end = offset;
        while (strings.get(end) != 0) {
            end++;
        }
        byte[] bytes = new byte[end - offset];
        strings.get(offset, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
