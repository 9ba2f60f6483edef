package io.dyber.zernel.record.process;

import java.util.List;
import java.util.Optional;

/// Which files a process maps where.
public record AddressSpace(List<Region> regions) {
    public AddressSpace {
        regions = List.copyOf(regions);
    }

    /// A mapping of a file: addresses `start` to `end - 1`.
    ///
    /// @param offset in the file, of `start`
    public record Region(long start, long end, long offset, boolean code, MappedFile file) {}

    /// The mapping that an address is in; none when it is in memory of no file.
    public Optional<Region> at(long address) {
        return regions.stream()
                .filter(region -> address >= region.start() && address < region.end())
                .findFirst();
    }
}
