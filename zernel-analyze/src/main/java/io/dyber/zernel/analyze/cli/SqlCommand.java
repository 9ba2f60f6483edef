package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.cli.option.Input;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.cli.option.TerminalOptions;
import io.dyber.zernel.analyze.sql.Statements;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "sql",
        mixinStandardHelpOptions = true,
        description = "Runs queries over events and the library's views, or a shell.",
        footer = {
            "",
            "In DuckDB's SQL. Each kind of event has a view with only its columns (FROM io).",
            "The library's views: steps, phases, percentiles, data_wait, workers, losses, ...",
            "",
            "Examples:",
            "  zernel-analyze sql run.parquet \"SELECT name, dur_ns FROM region LIMIT 9\"",
            "  zernel-analyze sql run.parquet",
            "",
            "Then: zernel-analyze export --csv --view steps run.parquet"
        })
final class SqlCommand implements Runnable {
    private static final Pattern STATEMENT =
            Pattern.compile("(?i)^\\s*(select|from|with|describe|summarize|show|explain)\\s");

    @Parameters(
            arity = "1..*",
            paramLabel = "FILE... [QUERY]",
            hideParamSyntax = true,
            description = {
                "Recordings, then the query. Without one, or with -, statements come from standard input;",
                "on a terminal that is a shell with history and completion."
            })
    List<String> words = List.of();

    @Mixin
    Input input = new Input();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        boolean hasQuery = words.size() > 1 && !isRecording(words.getLast());
        for (String word : words.subList(0, words.size() - 1)) {
            if (!isRecording(word) && STATEMENT.matcher(word).find()) {
                throw new ParameterException(
                        spec.commandLine(), "the query comes last: zernel-analyze sql " + words.getLast() + " \"" + word + "\"");
            }
        }
        try (Database database = input.open(hasQuery ? words.subList(0, words.size() - 1) : words)) {
            if (hasQuery && !words.getLast().equals("-")) {
                for (String statement : Statements.of(words.getLast())) {
                    output.print(database.query(statement), spec.commandLine().getOut(), false);
                }
            } else if (!hasQuery && TerminalOptions.isTerminal(0)) {
                SqlShell.run(database, output);
            } else {
                script(database, standardInput());
            }
        }
    }

    private static boolean isRecording(String word) {
        try {
            return word.endsWith(".parquet") || Files.exists(Path.of(word));
        } catch (InvalidPathException _) {
            return false;
        }
    }

    private void script(Database database, String text) {
        SqlSession session = new SqlSession(database, output, spec.commandLine().getOut(), Integer.MAX_VALUE);
        StringBuilder statement = new StringBuilder();
        for (String line : text.lines().toList()) {
            if (statement.toString().isBlank() && line.strip().startsWith(".")) {
                if (!session.run(line)) {
                    return;
                }
                continue;
            }
            statement.append(line).append('\n');
            if (Statements.end(statement.toString()) >= 0 && line.strip().endsWith(";")) {
                session.run(statement.toString());
                statement.setLength(0);
            }
        }
        session.run(statement.toString());
    }

    private static String standardInput() {
        try {
            return new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
