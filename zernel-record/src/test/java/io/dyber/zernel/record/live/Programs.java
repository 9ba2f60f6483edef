package io.dyber.zernel.record.live;

import java.nio.file.Path;

/// The programs of `src/test/workloads`, built when first asked for.
final class Programs {
    private static final Path SOURCES = Path.of("src/test/workloads").toAbsolutePath();
    private static final Path BUILT = Path.of("target/workloads").toAbsolutePath();

    private Programs() {}

    /// A script, as it is in the source.
    static String source(String name) {
        return SOURCES.resolve(name).toString();
    }

    /// A program or library, built by `make` when it is not up to date.
    static Path built(String name) {
        Path file = BUILT.resolve(name);
        try (Running make = Running.start("make", "-s", "-C", SOURCES.toString(), "OUT=" + BUILT, file.toString())) {
            Running.Outcome outcome = make.await();
            if (outcome.status() != 0) {
                throw new AssertionError("building " + name + ": " + outcome);
            }
        }
        return file;
    }
}
