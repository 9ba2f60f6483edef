package io.dyber.zernel.record.live;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/// What a test needs of the machine. A test whose need is not met is skipped and the reason printed; with
/// `ZERNEL_REQUIRE_BPF=1` it fails.
public final class Needs {
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
        if (!isInInitialPidNamespace()) {
            skip("needs the host's pid namespace");
        }
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup("libbpf.so.1", arena);
        } catch (IllegalArgumentException _) {
            skip("needs libbpf.so.1");
        }
        works("needs make", "make", "--version");
        works("needs gcc", "gcc", "--version");
    }

    /// What compiles the BPF programs.
    static void clang() {
        works("needs clang, llvm and libbpf-dev", "sh", "-c",
                "test -n \"$(make -s -C ../bpf print-CLANG)\" && test -n \"$(make -s -C ../bpf print-STRIP)\""
                        + " && make -s -C ../bpf headers");
    }

    /// The right to start a process in a pid namespace of its own.
    static void pidNamespaces() {
        works("needs 'unshare -pf --mount-proc' (util-linux)", "unshare", "-pf", "--mount-proc", "true");
    }

    /// A Python that can import the modules, e.g. `torch`: `ZERNEL_PYTHON` or `python3`.
    public static String python(String modules) {
        String chosen = System.getenv().getOrDefault("ZERNEL_PYTHON", "python3");
        works("needs a Python with " + modules + ": set ZERNEL_PYTHON", chosen, "-c", "import " + modules);
        return chosen;
    }

    /// The libraries of CUDA and NCCL in all versions that `.ci/run` has installed, and those of the Python of
    /// `ZERNEL_PYTHON`, if its PyTorch is one for CUDA.
    static List<Path> vendorLibraries() {
        List<Path> found = new ArrayList<>(vendorFiles("lib(cudart\\.so\\.1[23]|nccl\\.so\\.2)"));
        if (found.isEmpty()) {
            skip("needs the vendors' libraries, which .ci/run installs in " + vendorHome());
        }
        String python = System.getenv("ZERNEL_PYTHON");
        if (python != null) {
            try (Running running = Running.start(
                    python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])")) {
                Path packages = Path.of(running.await().out().getFirst());
                found.addAll(files(packages.resolve("torch/lib"), "libc10_cuda\\.so"));
                found.addAll(files(packages.resolve("nvidia"), "lib(cudart\\.so\\.1[23]|nccl\\.so\\.2)"));
            }
        }
        return found;
    }

    /// The folders of the vendors' headers with this file, the oldest version first.
    static List<Path> vendorHeaders(String name) {
        return vendorFiles(Pattern.quote(name)).stream().map(Path::getParent).toList();
    }

    private static List<Path> vendorFiles(String pattern) {
        return files(vendorHome(), pattern);
    }

    private static Path vendorHome() {
        String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", System.getProperty("user.home") + "/.cache");
        return Path.of(cache, "zernel", "vendor");
    }

    private static List<Path> files(Path folder, String pattern) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.getFileName().toString().matches(pattern)).sorted().toList();
        } catch (IOException e) {
            throw new AssertionError("looking into " + folder + ": " + e.getMessage(), e);
        }
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

    /// Skips the test, or fails it where nothing may be skipped.
    public static void skip(String reason) {
        if ("1".equals(System.getenv("ZERNEL_REQUIRE_BPF"))) {
            throw new AssertionError(reason + " (ZERNEL_REQUIRE_BPF=1)");
        }
        System.out.println("skipped: " + reason);
        Assumptions.abort(reason);
    }

    private static boolean isInInitialPidNamespace() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).endsWith("pid:[4026531836]");
        } catch (IOException _) {
            return true;
        }
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
