package io.dyber.zernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Where the memory of recorded programs is read. Who adds a place adds it to `docs/security.md` too.
class MemoryReadsTest {
    private static final Pattern IN_KERNEL = Pattern.compile("bpf_(probe_read|copy_from)_user\\w*\\(");
    private static final Pattern IN_RECORDER = Pattern.compile("ProcessMemory\\.\\w+\\(|[mM]emory\\.read\\(|\"/mem\"|process_vm_readv");

    private static Map<String, Long> places(Path folder, String ending, Pattern pattern) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> sources = files.filter(file -> file.toString().matches(ending)).toList();
            Map<String, Long> places = new TreeMap<>();
            for (Path source : sources) {
                long count = pattern.matcher(Files.readString(source)).results().count();
                if (count > 0) {
                    places.put(String.valueOf(source.getFileName()), count);
                }
            }
            return places;
        }
    }

    @Test
    void programsReadUserMemoryOnlyWhereDocumented() throws IOException {
        assertThat(places(Path.of("../bpf"), ".*\\.bpf\\.[ch]", IN_KERNEL))
                .isEqualTo(Map.of("functions.bpf.c", 8L, "syscalls.bpf.c", 1L, "files.bpf.h", 1L, "sample.bpf.c", 1L, "stack.bpf.h", 5L));
    }

    @Test
    void theRecorderReadsMemoryOnlyWhereDocumented() throws IOException {
        assertThat(places(Path.of("src/main/java"), ".*\\.java", IN_RECORDER))
                .isEqualTo(Map.of(
                        "ProcessMemory.java", 3L, "Communicators.java", 1L, "GpuKernelSymbolizer.java", 2L, "CodeReader.java", 3L,
                        "TextReader.java", 3L, "LayoutCheck.java", 2L, "PythonCode.java", 2L, "Pythons.java", 1L));
    }

    @Test
    void everyFileThatReadsMemoryIsOnThePage() throws IOException {
        String page = Files.readString(Path.of("../docs/security.md"));
        assertThat(Stream.of(
                                "stack.bpf.h", "functions.bpf.c", "syscalls.bpf.c", "files.bpf.h", "sample.bpf.c", "Communicators",
                                "GpuKernelSymbolizer", "CodeReader", "LayoutCheck")
                        .filter(name -> !page.contains("`" + name + "`"))
                        .collect(Collectors.toList()))
                .isEmpty();
    }
}
