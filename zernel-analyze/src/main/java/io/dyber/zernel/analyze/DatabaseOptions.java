package io.dyber.zernel.analyze;

import java.nio.file.Path;

/// How much of the machine a [Database] may use.
///
/// @param threads query threads, at least 1
/// @param memoryLimit bound on DuckDB's memory, e.g. `2GB`; larger work spills to disk
/// @param temporaryFolder parent of the folder for spilled data, which is made when needed and removed on close
public record DatabaseOptions(int threads, String memoryLimit, Path temporaryFolder) {
    public DatabaseOptions {
        if (threads < 1) {
            throw new IllegalArgumentException("threads must be at least 1: " + threads);
        }
    }

    /// All processors, the system's temporary folder, and 1600 MB, with which the process stays below 2 GiB.
    public static DatabaseOptions defaults() {
        return new DatabaseOptions(
                Runtime.getRuntime().availableProcessors(), "1600MB", Path.of(System.getProperty("java.io.tmpdir")));
    }

    /// The same with another memory limit.
    public DatabaseOptions withMemoryLimit(String limit) {
        return new DatabaseOptions(threads, limit, temporaryFolder);
    }

    /// The same with another number of threads.
    public DatabaseOptions withThreads(int count) {
        return new DatabaseOptions(count, memoryLimit, temporaryFolder);
    }
}
