package io.dyber.zernel.analyze.cli.option;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// Options of every command that opens recordings.
public final class Input {
    @Option(names = "--memory", paramLabel = "SIZE", description = "Bound on DuckDB's memory (default: 1600MB).")
    @Nullable String memory;

    @Option(names = "--threads", paramLabel = "N", description = "Query threads (default: all processors).")
    @Nullable Integer threads;

    @Option(names = "--findings", paramLabel = "DIR", description = "Add the .sql views and findings of a folder.")
    @Nullable Path findings;

    @Option(
            names = "--threshold",
            paramLabel = "NAME=N",
            description = "Decide by another number, repeatable: findings --explain NAME lists them.")
    Map<String, String> thresholds = Map.of();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    public SqlLibrary library() {
        Path folder = findings;
        SqlLibrary library = folder == null ? SqlLibrary.builtIn() : SqlLibrary.builtIn().with(folder);
        for (Map.Entry<String, String> threshold : thresholds.entrySet()) {
            try {
                library = library.with(threshold.getKey(), threshold.getValue());
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), "--threshold: " + e.getMessage());
            }
        }
        return library;
    }

    public Database open(List<String> files) {
        return Recordings.open(files, options(), library());
    }

    public Database compare(String before, String after) {
        return Recordings.compare(before, after, options(), library());
    }

    private DatabaseOptions options() {
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
}
