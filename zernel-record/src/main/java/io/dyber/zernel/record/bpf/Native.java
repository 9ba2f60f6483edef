package io.dyber.zernel.record.bpf;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/// How native functions are bound and called: shared by [Libc] and [LibBpf].
final class Native {
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private Native() {}

    /// A call that failed in Java before it reached native code: a wrong binding.
    static AssertionError unexpected(Throwable cause) {
        return new AssertionError("calling a native function", cause);
    }

    static MethodHandle bind(SymbolLookup library, String name, FunctionDescriptor type, Linker.Option... options) {
        MemorySegment address = library.find(name)
                .orElseThrow(() -> new BpfException("looking up native function '" + name + "': not found", 0, "", ""));
        return Linker.nativeLinker().downcallHandle(address, type, options);
    }

    static Linker.Option capturesErrno() {
        return Linker.Option.captureCallState("errno");
    }

    static MemorySegment state(Arena arena) {
        return arena.allocate(STATE);
    }

    /// Meaningful only after a failed call.
    static int errno(MemorySegment state) {
        return (int) ERRNO.get(state, 0L);
    }

    static MemorySegment nullAware(MemorySegment pointer, long size) {
        return pointer.address() == 0 ? MemorySegment.NULL : pointer.reinterpret(size);
    }

    static String string(MemorySegment pointer) {
        return pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }

    static MemorySegment ints(Arena arena, int... values) {
        return arena.allocateFrom(ValueLayout.JAVA_INT, values);
    }
}
