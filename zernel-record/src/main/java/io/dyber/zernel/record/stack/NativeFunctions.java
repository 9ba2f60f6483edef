package io.dyber.zernel.record.stack;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.FunctionIndex;
import io.dyber.zernel.record.process.AddressSpace;
import io.dyber.zernel.record.process.MappedFile;
import io.dyber.zernel.record.process.MappedFiles;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/// The functions and libraries behind addresses in processes. Not thread-safe.
final class NativeFunctions {
    /// Code that is mapped while a process runs is looked for again after this time.
    private static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_PROCESSES = 256;
    private static final int MOST_FILES = 64;
    private static final int MOST_NAME = 200;

    /// Code at an address.
    ///
    /// @param function empty where only the file is known
    /// @param library the name of its file
    /// @param file where it is mapped from, to tell it from others
    record Place(String function, String library, String file) {}

    private record Mapped(AddressSpace space, long nanos) {}

    private final UnaryOperator<String> readable;
    private final MappedFiles mapped = new MappedFiles();
    private final Map<Integer, Mapped> spaces = new Oldest<>(MOST_PROCESSES);
    private final Map<String, Optional<FunctionIndex>> files = new Oldest<>(MOST_FILES);

    /// Forgets what was put in first.
    private static final class Oldest<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1;
        private final int most;

        Oldest(int most) {
            this.most = most;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > most;
        }
    }

    /// @param readable makes a name as C++ has it of one as linkers do
    NativeFunctions(UnaryOperator<String> readable) {
        this.readable = readable;
    }

    void forget(int pid) {
        spaces.remove(pid);
    }

    /// What is at an address of a process; none where no file is mapped.
    Optional<Place> at(int pid, long address) {
        return region(pid, address).map(region -> place(region, address));
    }

    private Optional<AddressSpace.Region> region(int pid, long address) {
        Mapped known = spaces.get(pid);
        long now = System.nanoTime();
        Optional<AddressSpace.Region> region =
                known == null ? Optional.empty() : known.space().at(address).filter(AddressSpace.Region::code);
        if (region.isPresent() || (known != null && now - known.nanos() < STALE_NANOS)) {
            return region;
        }
        Mapped fresh = new Mapped(mapped.addressSpace(pid), now);
        spaces.put(pid, fresh);
        return fresh.space().at(address).filter(AddressSpace.Region::code);
    }

    private Place place(AddressSpace.Region region, long address) {
        MappedFile file = region.file();
        String library = file.path().substring(file.path().lastIndexOf('/') + 1);
        long place = address - region.start() + region.offset();
        String function = functions(file).flatMap(known -> known.at(place)).map(this::shown).orElse("");
        return new Place(function, library, file.identity());
    }

    /// Looks into a file once.
    private Optional<FunctionIndex> functions(MappedFile file) {
        Optional<FunctionIndex> known = files.get(file.identity());
        if (known == null) {
            known = index(file);
            files.put(file.identity(), known);
        }
        return known;
    }

    private static Optional<FunctionIndex> index(MappedFile file) {
        try (ElfFile elf = ElfFile.open(file.opened())) {
            return Optional.of(elf.functionIndex());
        } catch (ElfException _) {
            return Optional.empty();
        }
    }

    /// Without the types of its arguments, which are longer than all the rest.
    private String shown(String symbol) {
        String name = readable.apply(symbol);
        int depth = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '<') {
                depth++;
            } else if (c == '>') {
                depth--;
            } else if (c == '(' && depth == 0 && i > 0 && !name.startsWith("(anonymous namespace)", i)) {
                return bounded(name.substring(0, i));
            }
        }
        return bounded(name);
    }

    private static String bounded(String name) {
        return name.length() <= MOST_NAME ? name : name.substring(0, MOST_NAME) + "...";
    }
}
