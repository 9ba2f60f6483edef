package io.dyber.zernel.record.bpf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/// The CPUs of the machine, also those that this process may not use.
final class Cpus {
    private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");

    private Cpus() {}

    /// Those that run; as far as this process may know where the kernel does not say.
    static List<Integer> online() {
        try {
            return parse(Files.readString(ONLINE).strip());
        } catch (IOException | NumberFormatException _) {
            return IntStream.range(0, Runtime.getRuntime().availableProcessors()).boxed().toList();
        }
    }

    /// Ranges as the kernel writes them: `0-3,8`.
    static List<Integer> parse(String ranges) {
        return List.of(ranges.split(",")).stream()
                .flatMapToInt(range -> {
                    String[] ends = range.split("-");
                    return IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
                })
                .boxed()
                .toList();
    }
}
