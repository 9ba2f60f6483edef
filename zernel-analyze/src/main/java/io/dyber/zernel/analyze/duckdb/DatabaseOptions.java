package io.dyber.zernel.analyze.duckdb;

import java.nio.file.Path;

/// How much of the machine a [Database] may use, and how much of the recordings it reads.
///
/// @param threads query threads, at least 1
/// @param memoryLimit bound on DuckDB's memory, e.g. `2GB`; larger work spills to disk
/// @param temporaryFolder parent of the folder for spilled data, which is made when needed and removed on close
/// @param fromNanos events that began before are left out, as if nobody had recorded them
public record DatabaseOptions(int threads, String memoryLimit, Path temporaryFolder, long fromNanos) {
    /// The value of `fromNanos` that leaves out nothing.
    public static final long ALL = Long.MIN_VALUE;

    public DatabaseOptions {
        if (threads < 1) {
            throw new IllegalArgumentException("threads must be at least 1: " + threads);
        }
    }

    /// Of all events.
    public DatabaseOptions(int threads, String memoryLimit, Path temporaryFolder) {
        this(threads, memoryLimit, temporaryFolder, ALL);
    }

    /// All processors, the system's temporary folder, and 1600 MB, with which the process stays below 2 GiB.
    public static DatabaseOptions defaults() {
        return new DatabaseOptions(
                Runtime.getRuntime().availableProcessors(), "1600MB", Path.of(System.getProperty("java.io.tmpdir")));
    }

    /// The same with another memory limit.
    public DatabaseOptions withMemoryLimit(String limit) {
        return new DatabaseOptions(threads, limit, temporaryFolder, fromNanos);
    }

    /// The same with another number of threads.
    public DatabaseOptions withThreads(int count) {
        return new DatabaseOptions(count, memoryLimit, temporaryFolder, fromNanos);
    }

    /// The same without the events that began before a time.
    public DatabaseOptions withEventsFrom(long nanos) {
        return new DatabaseOptions(threads, memoryLimit, temporaryFolder, nanos);
    }
}
