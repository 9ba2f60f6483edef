package io.dyber.zernel.record.live;

import java.nio.file.Path;

/// The programs of `src/test/workloads`, built when first asked for. Each JVM of those that test side by side has its own: a
/// probe is on the file, and counts the calls of everybody who has it.
final class Programs {
    private static final Path SOURCES = Path.of("src/test/workloads").toAbsolutePath();
    private static final Path BUILT =
            Path.of("target/workloads", System.getProperty("zernel.fork", "1")).toAbsolutePath();

    private Programs() {}

    /// A script, as it is in the source.
    static String source(String name) {
        return SOURCES.resolve(name).toString();
    }

    /// A program or library, built by `make` when it is not up to date.
    static Path built(String name) {
        make(SOURCES, BUILT, BUILT.resolve(name).toString());
        return BUILT.resolve(name);
    }

    /// The folder of the stand-ins for the vendors' libraries and the programs that call them, all built.
    static Path standIns() {
        make(SOURCES.resolve("standin"), BUILT.resolve("standin"), "all");
        return BUILT.resolve("standin");
    }

    private static void make(Path sources, Path built, String target) {
        try (Running make = Running.start("make", "-s", "-j2", "-C", sources.toString(), "OUT=" + built, target)) {
            Running.Outcome outcome = make.await();
            if (outcome.status() != 0) {
                throw new AssertionError("building " + target + ": " + outcome);
            }
        }
    }
}
