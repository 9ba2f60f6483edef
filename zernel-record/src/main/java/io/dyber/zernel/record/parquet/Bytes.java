package io.dyber.zernel.record.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// A growing little-endian byte buffer, reused page after page.
final class Bytes {
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] array = new byte[1 << 16];
    private int size;

    /// The bytes, valid up to [#size]; replaced when the buffer grows.
    byte[] array() {
        return array;
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    void putByte(int value) {
        reserve(1);
        array[size++] = (byte) value;
    }

    void putInt(int value) {
        reserve(4);
        INT.set(array, size, value);
        size += 4;
    }

    void setInt(int position, int value) {
        INT.set(array, position, value);
    }

    void putLong(long value) {
        reserve(8);
        LONG.set(array, size, value);
        size += 8;
    }

    /// The low `count` bytes of `value`, at most 8.
    void putLow(long value, int count) {
        reserve(8);
        LONG.set(array, size, value);
        size += count;
    }

    void putAll(byte[] bytes) {
        reserve(bytes.length);
        System.arraycopy(bytes, 0, array, size, bytes.length);
        size += bytes.length;
    }

    /// ULEB-128, as Parquet's run headers want it.
    void putVarint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            putByte((int) ((rest & 0x7F) | 0x80));
            rest >>>= 7;
        }
        putByte((int) rest);
    }

    private void reserve(int count) {
        if (array.length - size < count) {
            array = Arrays.copyOf(array, Math.max(array.length * 2, size + count));
        }
    }
}
