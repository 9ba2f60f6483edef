package io.dyber.zernel.record.attach;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// A `struct function` of `bpf/functions.bpf.c`: what the programs do at one function.
public final class FunctionDefinition {
    /// Where `sample` lies in the struct.
    static final int SAMPLE = 8;

    /// Where `flags` lies.
    static final int FLAGS = 2;
    private static final int IN_WINDOWS = 32;

    private final byte[] value;

    FunctionDefinition(byte[] value) {
        this.value = value.clone();
    }

    /// The same function, of whose calls one in `every` is recorded, 0 for none.
    FunctionDefinition sampled(int every) {
        byte[] changed = value.clone();
        ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(SAMPLE, every);
        return new FunctionDefinition(changed);
    }

    /// The same function, of which all calls are recorded at times and none at others.
    FunctionDefinition inWindows() {
        byte[] changed = value.clone();
        changed[FLAGS] |= IN_WINDOWS;
        return new FunctionDefinition(changed);
    }

    /// The value of the `functions` map.
    public byte[] bytes() {
        return value.clone();
    }
}
