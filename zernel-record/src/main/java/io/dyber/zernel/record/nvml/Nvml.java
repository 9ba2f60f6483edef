package io.dyber.zernel.record.nvml;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// NVML, bound by hand. The NVIDIA driver brings the library; it is opened by its soname.
///
/// Drivers differ in what they know, so a function is looked up when it is first called, and one that is not there
/// returns [NvmlCode#FUNCTION_NOT_FOUND], as NVML itself would. Belongs to the thread that opened it.
final class Nvml implements AutoCloseable {
    /// System property that names another library; for tests.
    static final String LIBRARY_PROPERTY = "zernel.libnvml";

    static final String SONAME = "libnvidia-ml.so.1";

    private static final int TEXT_SIZE = 96;
    /// `sizeof(nvmlPciInfo_t)`, and `busId` in it.
    private static final int PCI_SIZE = 68;

    private static final int PCI_BUS_ID = 36;

    private final Arena arena = Arena.ofConfined();
    private final SymbolLookup library;
    private final Map<String, MethodHandle> functions = new HashMap<>();
    private final MemorySegment answer = arena.allocate(32, 8);
    private final MemorySegment unused = arena.allocate(JAVA_INT);

    private Nvml(String name) throws NvmlException {
        try {
            library = SymbolLookup.libraryLookup(name, arena);
        } catch (IllegalArgumentException _) {
            arena.close();
            throw new NvmlException("no NVIDIA driver: there is no " + name);
        }
    }

    /// Opens the library and lets it find the driver, which takes up to some seconds.
    ///
    /// @throws NvmlException when there is no library or no driver
    static Nvml open() throws NvmlException {
        Nvml nvml = new Nvml(System.getProperty(LIBRARY_PROPERTY, SONAME));
        int code = nvml.call("nvmlInit_v2");
        if (code != NvmlCode.SUCCESS) {
            nvml.arena.close();
            throw new NvmlException("looking for GPUs: " + NvmlCode.text(code));
        }
        return nvml;
    }

    /// The function under the first of its names that the library knows. All of them return `nvmlReturn_t`.
    MethodHandle function(List<String> symbols, MemoryLayout... parameters) {
        FunctionDescriptor type = FunctionDescriptor.of(JAVA_INT, parameters);
        return functions.computeIfAbsent(symbols.getFirst(), _ -> symbols.stream()
                .flatMap(symbol -> library.find(symbol).stream())
                .findFirst()
                .map(address -> Linker.nativeLinker().downcallHandle(address, type))
                .orElseGet(() -> MethodHandles.dropArguments(
                        MethodHandles.constant(int.class, NvmlCode.FUNCTION_NOT_FOUND),
                        0,
                        type.toMethodType().parameterList())));
    }

    /// Memory that lives as long as this.
    Arena arena() {
        return arena;
    }

    /// A call that failed in Java before it reached native code: a wrong binding.
    static AssertionError unexpected(Throwable cause) {
        return new AssertionError("calling NVML", cause);
    }

    /// `nvmlReturn_t symbol(void)`
    private int call(String symbol) {
        try {
            return (int) function(List.of(symbol)).invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /// Version of the driver, empty when it does not say.
    ///
    /// `nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)`
    String driver() {
        MethodHandle function = function(List.of("nvmlSystemGetDriverVersion"), ADDRESS, JAVA_INT);
        try (Arena call = Arena.ofConfined()) {
            MemorySegment text = call.allocate(TEXT_SIZE);
            return (int) function.invokeExact(text, TEXT_SIZE) == NvmlCode.SUCCESS ? text.getString(0) : "";
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /// How many devices there are.
    ///
    /// `nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount)`
    private int count() throws NvmlException {
        MethodHandle function = function(List.of("nvmlDeviceGetCount_v2"), ADDRESS);
        int code;
        try {
            code = (int) function.invokeExact(answer);
        } catch (Throwable e) {
            throw unexpected(e);
        }
        if (code != NvmlCode.SUCCESS) {
            throw new NvmlException("counting GPUs: " + NvmlCode.text(code));
        }
        return answer.get(JAVA_INT, 0);
    }

    /// Handles of the devices by index; a null pointer for one that does not answer.
    ///
    /// `nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)`
    List<MemorySegment> devices() throws NvmlException {
        MethodHandle function = function(List.of("nvmlDeviceGetHandleByIndex_v2"), JAVA_INT, ADDRESS);
        List<MemorySegment> devices = new ArrayList<>();
        int count = count();
        try {
            for (int i = 0; i < count; i++) {
                int code = (int) function.invokeExact(i, answer);
                devices.add(code == NvmlCode.SUCCESS ? answer.get(ADDRESS, 0) : MemorySegment.NULL);
            }
        } catch (Throwable e) {
            throw unexpected(e);
        }
        return devices;
    }

    /// A text about a device, empty when the driver does not say.
    ///
    /// `nvmlReturn_t symbol(nvmlDevice_t device, char *text, unsigned int length)`
    String text(String symbol, MemorySegment device) {
        MethodHandle function = function(List.of(symbol), ADDRESS, ADDRESS, JAVA_INT);
        try (Arena call = Arena.ofConfined()) {
            MemorySegment text = call.allocate(TEXT_SIZE);
            return (int) function.invokeExact(device, text, TEXT_SIZE) == NvmlCode.SUCCESS ? text.getString(0) : "";
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /// Where a device is on the PCI bus: `00000000:3B:00.0`; empty when the driver does not say.
    ///
    /// `nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)`
    String pci(MemorySegment device) {
        MethodHandle function = function(List.of("nvmlDeviceGetPciInfo_v3"), ADDRESS, ADDRESS);
        try (Arena call = Arena.ofConfined()) {
            MemorySegment pci = call.allocate(PCI_SIZE, JAVA_INT.byteAlignment());
            return (int) function.invokeExact(device, pci) == NvmlCode.SUCCESS ? pci.getString(PCI_BUS_ID) : "";
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /// Asks about a device; [#answered] has the answer until the next call.
    ///
    /// @return the return code
    int ask(Question question, MemorySegment device) {
        List<Integer> choices = question.choices();
        List<String> symbols = question.symbols();
        try {
            if (question.paired()) {
                return (int) function(symbols, ADDRESS, ADDRESS, ADDRESS).invokeExact(device, answer, unused);
            }
            return switch (choices.size()) {
                case 0 -> (int) function(symbols, ADDRESS, ADDRESS).invokeExact(device, answer);
                case 1 -> (int) function(symbols, ADDRESS, JAVA_INT, ADDRESS)
                        .invokeExact(device, (int) choices.get(0), answer);
                default -> (int) function(symbols, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS)
                        .invokeExact(device, (int) choices.get(0), (int) choices.get(1), answer);
            };
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /// A number of the last answer.
    ///
    /// @param width 4 or 8 bytes
    long answered(int offset, int width) {
        return width == 8 ? answer.get(JAVA_LONG, offset) : Integer.toUnsignedLong(answer.get(JAVA_INT, offset));
    }

    @Override
    public void close() {
        int _ = call("nvmlShutdown");
        arena.close();
    }
}
