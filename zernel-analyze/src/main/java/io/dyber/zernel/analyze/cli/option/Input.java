package io.dyber.zernel.analyze.cli.option;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/// Options of every command that opens recordings.
public final class Input extends Limits {
    @Option(names = "--findings", paramLabel = "DIR", description = "Add the .sql views and findings of a folder.")
    @Nullable Path findings;

    @Option(
            names = "--threshold",
            paramLabel = "NAME=N",
            description = "Decide by another number, repeatable: findings --explain NAME lists them.")
    Map<String, String> thresholds = Map.of();

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
}
