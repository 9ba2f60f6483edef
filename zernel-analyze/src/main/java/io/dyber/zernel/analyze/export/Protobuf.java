package io.dyber.zernel.analyze.export;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// One message in protobuf's wire format, written field by field.
///
/// What it takes is little: see https://protobuf.dev/programming-guides/encoding/ for varints and wire types.
final class Protobuf {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH_DELIMITED = 2;
    private static final int LONGEST_VARINT = 10;

    private byte[] bytes = new byte[32];
    private int size;

    Protobuf clear() {
        size = 0;
        return this;
    }

    boolean isEmpty() {
        return size == 0;
    }

    Protobuf integer(int field, long value) {
        tag(field, VARINT);
        varint(value);
        return this;
    }

    Protobuf real(int field, double value) {
        return fixed(field, Double.doubleToRawLongBits(value));
    }

    Protobuf fixed(int field, long value) {
        tag(field, FIXED64);
        room(Long.BYTES);
        for (int i = 0; i < Long.BYTES; i++) {
            bytes[size++] = (byte) (value >>> (8 * i));
        }
        return this;
    }

    Protobuf text(int field, String value) {
        byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
        return delimited(field, utf8, utf8.length);
    }

    Protobuf message(int field, Protobuf value) {
        return delimited(field, value.bytes, value.size);
    }

    /// Writes this as a field of a message that is only a stream of such fields.
    void writeTo(OutputStream out, int field) throws IOException {
        Protobuf head = new Protobuf();
        head.tag(field, LENGTH_DELIMITED);
        head.varint(size);
        out.write(head.bytes, 0, head.size);
        out.write(bytes, 0, size);
    }

    private Protobuf delimited(int field, byte[] value, int length) {
        tag(field, LENGTH_DELIMITED);
        varint(length);
        room(length);
        System.arraycopy(value, 0, bytes, size, length);
        size += length;
        return this;
    }

    private void tag(int field, int wireType) {
        varint(((long) field << 3) | wireType);
    }

    private void varint(long value) {
        room(LONGEST_VARINT);
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[size++] = (byte) ((rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
    }

    private void room(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }
}
