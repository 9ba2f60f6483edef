package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/// Makes C++ names readable with the C++ library of the machine. Without one they stay as they are. Thread-safe.
public final class Demangler {
    private static final String LIBRARY = "libstdc++.so.6";

    // char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status)
    private final Optional<MethodHandle> demangle;
    // void free(void *pointer)
    private final MethodHandle free;

    public Demangler() {
        SymbolLookup libc = Linker.nativeLinker().defaultLookup();
        this.free = Native.bind(libc, "free", FunctionDescriptor.ofVoid(ADDRESS));
        this.demangle = library()
                .map(library -> Native.bind(
                        library,
                        "__cxa_demangle",
                        FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS)));
    }

    private static Optional<SymbolLookup> library() {
        try {
            return Optional.of(SymbolLookup.libraryLookup(LIBRARY, Arena.global()));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    /// The name as C++ source has it; `name` itself when it is not a mangled one.
    public String demangled(String name) {
        if (demangle.isEmpty() || !name.startsWith("_Z")) {
            return name;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(JAVA_INT);
            MemorySegment readable = (MemorySegment) demangle.get()
                    .invokeExact(arena.allocateFrom(name), MemorySegment.NULL, MemorySegment.NULL, status);
            if (readable.address() == 0) {
                return name;
            }
            String text = Native.string(readable);
            free.invokeExact(readable);
            return text;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }
}
