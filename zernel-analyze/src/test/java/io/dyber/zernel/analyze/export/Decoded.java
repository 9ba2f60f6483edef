package io.dyber.zernel.analyze.export;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// A protobuf message as fields, read without knowing its type. Values are `Long` for varints and fixed64, else bytes.
record Decoded(List<Field> fields) {
    record Field(int number, Object value) {}

    static Decoded of(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        List<Field> fields = new ArrayList<>();
        while (buffer.hasRemaining()) {
            long tag = varint(buffer);
            Object value = switch ((int) (tag & 7)) {
                case 0 -> varint(buffer);
                case 1 -> buffer.getLong();
                case 2 -> {
                    byte[] delimited = new byte[(int) varint(buffer)];
                    buffer.get(delimited);
                    yield delimited;
                }
                default -> throw new IllegalStateException("wire type " + (tag & 7));
            };
            fields.add(new Field((int) (tag >>> 3), value));
        }
        return new Decoded(fields);
    }

    boolean has(int number) {
        return fields.stream().anyMatch(field -> field.number() == number);
    }

    long integer(int number) {
        return (Long) fields.stream().filter(field -> field.number() == number).findFirst().orElse(new Field(0, 0L)).value();
    }

    String text(int number) {
        return messages(number).isEmpty() ? "" : new String(bytes(number).getFirst(), StandardCharsets.UTF_8);
    }

    List<Decoded> messages(int number) {
        return bytes(number).stream().map(bytes -> {
            try {
                return of(bytes);
            } catch (RuntimeException _) {
                return new Decoded(List.of()); // a text
            }
        }).toList();
    }

    private List<byte[]> bytes(int number) {
        return fields.stream()
                .filter(field -> field.number() == number)
                .map(field -> (byte[]) field.value())
                .toList();
    }

    private static long varint(ByteBuffer buffer) {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = buffer.get();
            value |= (long) (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }
}
