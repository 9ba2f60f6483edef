package io.dyber.zernel.record.session;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.job.GpuKernels.Unknown;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.process.AddressSpace.Region;
import io.dyber.zernel.record.process.AddressSpace;
import io.dyber.zernel.record.process.MappedFile;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.process.ProcessMemory;
import io.dyber.zernel.record.rows.EventPump;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

/// Finds out which kernels the handles in launches mean, beside the recording of them.
///
/// A handle is the address of the kernel's host function, which the library's symbols name; or it is a `cudaKernel_t`,
/// which programs built with CUDA 13 keep in a variable of the kernel's host stub: `__device_stub__Z...::__handle`. What the
/// driver is told of others a probe reads, but not of a page that is not in memory yet, as those of NVIDIA's libraries are not
/// that have a kernel's name, nor more than 191 bytes: such a name is read where the program has it.
final class GpuKernelSymbolizer {
    private static final String STUB = "__device_stub_";
    private static final String CUT = "...";
    private static final String HANDLE = "E8__handle";

    /// The first character behind those of names.
    private static final int DELETE = 0x7f;

    /// Of the length of a name.
    private static final int MOST_DIGITS = 9;

    /// Of a name that is read in a process.
    private static final int MOST_BYTES = 16 << 10;

    /// Names that came too late for their first launches and are told in the footer.
    private static final int MOST = 20_000;

    private final Job job;
    private final EventPump pump;
    private final UnaryOperator<String> readable;
    private final MappedFiles mapped = new MappedFiles();
    private final Map<String, Stubs> stubsByFile = new HashMap<>();
    private final List<Footer.KernelName> found = new ArrayList<>();
    private long untold;

    /// The variables of a file that hold handles.
    ///
    /// @param handles names by address, as linked
    /// @param code address, as linked, of where the file's code is mapped
    private record Stubs(Map<Long, String> handles, OptionalLong code) {}

    GpuKernelSymbolizer(Job job, EventPump pump, UnaryOperator<String> readable) {
        this.job = job;
        this.pump = pump;
        this.readable = readable;
    }

    /// Looks up what has come up since the last call.
    void resolve() {
        Map<Integer, List<Unknown>> byProcess = new LinkedHashMap<>();
        Optional<Unknown> next = job.kernels().takeUnknown();
        while (next.isPresent()) {
            byProcess.computeIfAbsent(next.get().pid(), _ -> new ArrayList<>()).add(next.get());
            next = job.kernels().takeUnknown();
        }
        byProcess.forEach(this::resolve);
    }

    private void resolve(int pid, List<Unknown> unknowns) {
        List<Unknown> unwritten = nameWritten(pid, unknowns);
        if (unwritten.isEmpty()) {
            return;
        }
        AddressSpace space = mapped.addressSpace(pid);
        Map<MappedFile, List<Unknown>> inCode = new LinkedHashMap<>();
        List<Unknown> handles = new ArrayList<>();
        for (Unknown unknown : unwritten) {
            Optional<Region> region = space.at(unknown.place()).filter(Region::code);
            region.ifPresentOrElse(
                    code -> inCode.computeIfAbsent(code.file(), _ -> new ArrayList<>()).add(unknown),
                    () -> handles.add(unknown));
        }
        inCode.forEach((file, those) -> nameFunctions(space, file, those));
        if (!handles.isEmpty()) {
            nameHandles(pid, space, handles);
        }
    }

    /// Names those whose names are known or there to be read, and returns the others.
    private List<Unknown> nameWritten(int pid, List<Unknown> unknowns) {
        List<Unknown> others = new ArrayList<>();
        try (ProcessMemory memory = ProcessMemory.of(pid)) {
            for (Unknown unknown : unknowns) {
                if (!unknown.name().isEmpty()) {
                    tell(unknown, unknown.name());
                    continue;
                }
                String written = written(memory, unknown);
                if (written.isEmpty()) {
                    others.add(unknown);
                } else {
                    name(unknown, written);
                }
            }
        }
        return others;
    }

    /// Empty where that is not known, or something else is there by now.
    private static String written(ProcessMemory memory, Unknown unknown) {
        if (unknown.written() == 0) {
            return "";
        }
        String name = new String(memory.readToZero(unknown.written(), MOST_BYTES), StandardCharsets.ISO_8859_1);
        boolean plain = name.chars().allMatch(c -> c > ' ' && c < DELETE);
        return plain && name.startsWith(unknown.start()) ? name : "";
    }

    private void nameFunctions(AddressSpace space, MappedFile file, List<Unknown> unknowns) {
        Map<Unknown, Long> offsets = new LinkedHashMap<>();
        for (Unknown unknown : unknowns) {
            space.at(unknown.place())
                    .ifPresent(region -> offsets.put(unknown, unknown.place() - region.start() + region.offset()));
        }
        Map<Long, String> names = Map.of();
        try (ElfFile elf = ElfFile.open(file.opened())) {
            names = elf.functionsAt(offsets.values());
        } catch (ElfException _) {
            // The place in the file says at least where to look.
        }
        for (Map.Entry<Unknown, Long> offset : offsets.entrySet()) {
            String name = names.get(offset.getValue());
            String fileName = file.path().substring(file.path().lastIndexOf('/') + 1);
            name(offset.getKey(), name == null ? fileName + "+0x" + Long.toHexString(offset.getValue()) : kernelOf(name));
        }
    }

    /// The kernel that a host function launches: its own name, or for a stub the one in it. Where the length before a stub's
    /// name does not fit, it is all that follows.
    static String kernelOf(String function) {
        int stub = function.indexOf(STUB);
        if (stub < 0) {
            return function;
        }
        int digits = stub;
        while (digits > 0 && Character.isDigit(function.charAt(digits - 1))) {
            digits--;
        }
        int length = stub - digits > MOST_DIGITS || digits == stub ? 0 : Integer.parseInt(function, digits, stub, 10);
        boolean fits = length > STUB.length() && length <= function.length() - stub;
        return function.substring(stub + STUB.length(), fits ? stub + length : function.length());
    }

    private void nameHandles(int pid, AddressSpace space, List<Unknown> unknowns) {
        Map<Long, String> kernels = new HashMap<>();
        Map<String, Boolean> seen = new HashMap<>();
        for (Region region : space.regions()) {
            if (region.code() && seen.put(region.file().identity(), true) == null) {
                readHandles(pid, region, kernels);
            }
        }
        for (Unknown unknown : unknowns) {
            String name = kernels.get(unknown.place());
            if (name != null) {
                name(unknown, name);
            } else if (unknown.start().isEmpty()) {
                job.kernels().notFound(unknown);
            } else {
                tell(unknown, unknown.start() + CUT);
            }
        }
    }

    private void readHandles(int pid, Region code, Map<Long, String> kernels) {
        Stubs stubs = stubsByFile.computeIfAbsent(code.file().identity(), _ -> stubsOf(code));
        if (stubs.handles().isEmpty() || stubs.code().isEmpty()) {
            return;
        }
        long bias = code.start() - stubs.code().getAsLong();
        Map<Long, Long> values =
                ProcessMemory.longsAt(pid, stubs.handles().keySet().stream().map(at -> at + bias).toList());
        stubs.handles().forEach((at, name) -> {
            long value = values.getOrDefault(at + bias, 0L);
            if (value != 0) {
                kernels.put(value, kernelOf(name));
            }
        });
    }

    /// Looks into a file once: the names of a large library are hundreds of thousands.
    private static Stubs stubsOf(Region code) {
        try (ElfFile elf = ElfFile.open(code.file().opened())) {
            return new Stubs(elf.variables(HANDLE), elf.codeAddress(code.offset()));
        } catch (ElfException _) {
            return new Stubs(Map.of(), OptionalLong.empty());
        }
    }

    private void name(Unknown unknown, String mangled) {
        tell(unknown, readable.apply(mangled));
    }

    private void tell(Unknown unknown, String name) {
        if (found.size() < MOST) {
            found.add(new Footer.KernelName(unknown.pid(), unknown.func(), name));
        } else {
            untold++;
        }
        pump.later(_ -> job.kernels().name(unknown.pid(), unknown.func(), name));
    }

    /// What is missing of the names.
    List<String> caveats() {
        return untold == 0 ? List.of() : List.of("the first launches of " + untold + " kernels have no name");
    }

    /// The footer's `zernel.kernels`: also launches before the name was found are of these.
    List<Footer.KernelName> describe() {
        return List.copyOf(found);
    }
}
