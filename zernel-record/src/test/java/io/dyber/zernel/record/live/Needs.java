package io.dyber.zernel.record.live;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/// What a test needs of the machine. A test whose need is not met is skipped and the reason printed; with
/// `ZERNEL_REQUIRE_BPF=1` it fails.
final class Needs {
    private static final int CAP_SYS_ADMIN = 21;
    private static final int CAP_PERFMON = 38;
    private static final int CAP_BPF = 39;

    private Needs() {}

    static void root() {
        if (!status("Uid:").equals("0")) {
            skip("needs root");
        }
    }

    /// Root with the right to load eBPF programs on a kernel that describes its types, libbpf, and a C compiler for
    /// the programs to be recorded.
    static void bpf() {
        root();
        long capabilities = Long.parseUnsignedLong(status("CapEff:"), 16);
        boolean bpfOnly = has(capabilities, CAP_BPF) && has(capabilities, CAP_PERFMON);
        if (!bpfOnly && !has(capabilities, CAP_SYS_ADMIN)) {
            skip("needs CAP_BPF and CAP_PERFMON");
        }
        if (!Files.isReadable(Path.of("/sys/kernel/btf/vmlinux"))) {
            skip("needs a kernel with BTF (/sys/kernel/btf/vmlinux)");
        }
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup("libbpf.so.1", arena);
        } catch (IllegalArgumentException _) {
            skip("needs libbpf.so.1");
        }
        works("needs make", "make", "--version");
        works("needs gcc", "gcc", "--version");
    }

    /// A Python that can import the modules, e.g. `torch`: `ZERNEL_PYTHON` or `python3`.
    static String python(String modules) {
        String chosen = System.getenv().getOrDefault("ZERNEL_PYTHON", "python3");
        works("needs a Python with " + modules + ": set ZERNEL_PYTHON", chosen, "-c", "import " + modules);
        return chosen;
    }

    private static void works(String need, String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (process.waitFor() != 0) {
                skip(need);
            }
        } catch (IOException _) {
            skip(need);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private static void skip(String reason) {
        if ("1".equals(System.getenv("ZERNEL_REQUIRE_BPF"))) {
            throw new AssertionError(reason + " (ZERNEL_REQUIRE_BPF=1)");
        }
        System.out.println("skipped: " + reason);
        Assumptions.abort(reason);
    }

    private static boolean has(long capabilities, int capability) {
        return ((capabilities >>> capability) & 1) == 1;
    }

    /// The first value of a line of `/proc/self/status`.
    private static String status(String field) {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith(field))
                    .map(line -> line.split("\\s+")[1])
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new AssertionError("reading /proc/self/status: " + e.getMessage(), e);
        }
    }
}
