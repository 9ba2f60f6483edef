package io.dyber.zernel.analyze.cli.option;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// What queries may use of the machine.
public class Limits {
    @Option(names = "--memory", paramLabel = "SIZE", description = "Bound on DuckDB's memory (default: 1600MB).")
    @Nullable String memory;

    @Option(names = "--threads", paramLabel = "N", description = "Query threads (default: all processors).")
    @Nullable Integer threads;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// The options as DuckDB takes them.
    public DatabaseOptions options() {
        DatabaseOptions options = DatabaseOptions.defaults();
        if (memory != null) {
            options = options.withMemoryLimit(memory);
        }
        if (threads != null && threads < 1) {
            throw new ParameterException(spec.commandLine(), "--threads must be at least 1");
        }
        if (threads != null) {
            options = options.withThreads(threads);
        }
        return options;
    }

    /// The same for work beside a job: one thread and 512 MB, unless the options say otherwise.
    public DatabaseOptions modest() {
        DatabaseOptions options = options();
        options = memory == null ? options.withMemoryLimit("512MB") : options;
        return threads == null ? options.withThreads(1) : options;
    }
}
