package io.dyber.zernel.record.schema;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// One kind of event, as its C struct declares it.
///
/// @param kind the struct's tag and the `kind` of its rows
/// @param fields in declaration order, without those of the wire (names that begin with `__`)
/// @param size of the struct in bytes
public record EventType(String kind, String comment, List<Field> fields, int size) {
    private static final String DECLARATION = "event_";
    private static final String DOC = "doc:";

    /// Every kind that an object declares with `EVENT()`, in declaration order.
    ///
    /// @throws IllegalArgumentException when a field has a type outside the vocabulary
    public static List<EventType> allIn(Btf btf) {
        List<EventType> types = new ArrayList<>();
        for (int id = 0; id < btf.size(); id++) {
            if (btf.type(id) instanceof Btf.Var(String name, int type)
                    && name.startsWith(DECLARATION)
                    && btf.type(type) instanceof Btf.Pointer(int target)
                    && btf.type(target) instanceof Btf.Struct struct) {
                types.add(of(btf, struct, target, doc(btf, id, -1).orElse("")));
            }
        }
        return List.copyOf(types);
    }

    private static EventType of(Btf btf, Btf.Struct struct, int structId, String comment) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < struct.members().size(); i++) {
            Btf.Member member = struct.members().get(i);
            if (!member.name().startsWith("__")) {
                FieldType type = fieldType(btf, member.type())
                        .orElseThrow(() -> new IllegalArgumentException("reading event '" + struct.name()
                                + "': field '" + member.name() + "' has a type outside the vocabulary"));
                int size = btf.sizeOf(member.type());
                fields.add(new Field(
                        member.name(), type, member.offset(), size, doc(btf, structId, i).orElse("")));
            }
        }
        return new EventType(struct.name(), comment, List.copyOf(fields), struct.size());
    }

    private static Optional<FieldType> fieldType(Btf btf, int id) {
        return switch (btf.type(id)) {
            case Btf.Typedef typedef -> FieldType.ofTypedef(typedef.name());
            case Btf.Array array -> fieldType(btf, array.element());
            default -> Optional.empty();
        };
    }

    private static Optional<String> doc(Btf btf, int target, int component) {
        for (int id = 0; id < btf.size(); id++) {
            if (btf.type(id) instanceof Btf.Tag(String text, int of, int at)
                    && of == target
                    && at == component
                    && text.startsWith(DOC)) {
                return Optional.of(text.substring(DOC.length()));
            }
        }
        return Optional.empty();
    }
}
