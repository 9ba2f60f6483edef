package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.export.ExportFormat;
import io.dyber.zernel.analyze.report.ReportForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What every command does with files that are no recordings, and with recordings in which there is nearly nothing.
class EveryCommandTest {
    @TempDir
    Path folder;

    private static List<List<String>> commands() {
        List<List<String>> commands = new ArrayList<>();
        for (String line : """
                report
                report --html
                report --json
                report --json-schema
                report --markdown
                findings
                steps
                phases --parts
                percentiles
                memory
                memory --curve
                nccl
                nccl --ranks
                nccl --clocks
                critical-path
                critical-path --parts
                critical-path --ranks
                io --files
                gpu
                gpu --idle
                anomalies
                stacks
                stacks --by step
                stacks --folded
                timeline
                info
                info --table losses --csv
                export --perfetto -f -o OUT
                export --chrome -f -o OUT
                export --folded -f -o OUT
                export --csv -f -o OUT
                export --parquet -f -o OUT
                """.lines().toList()) {
            commands.add(Arrays.asList(line.split(" ")));
        }
        return commands;
    }

    /// Of these commands, and options of `report` and `export`, those that are tried nowhere here.
    private static List<String> forgotten(Collection<String> commands, List<String> forms, List<String> formats) {
        Set<String> tried = new TreeSet<>(List.of("diff", "digest", "sql", "whatif"));
        Set<String> options = new TreeSet<>();
        commands().forEach(command -> {
            tried.add(command.getFirst());
            command.stream().skip(1).forEach(option -> options.add(command.getFirst() + " " + option));
        });
        List<String> forgotten = new ArrayList<>(commands);
        forgotten.removeAll(tried);
        forms.stream().map(option -> "report " + option).filter(option -> !options.contains(option)).forEach(forgotten::add);
        formats.stream().map(option -> "export " + option).filter(option -> !options.contains(option)).forEach(forgotten::add);
        return forgotten;
    }

    @Test
    void noCommandNoFormOfTheReportAndNoFormatIsForgotten() {
        assertThat(forgotten(
                        Analyze.commandLine().getSubcommands().keySet(),
                        ReportForm.ALL.stream().map(ReportForm::option).toList(),
                        ExportFormat.ALL.stream().map(ExportFormat::option).toList()))
                .isEmpty();
    }

    @Test
    void whatIsForgottenIsNamed() {
        assertThat(forgotten(List.of("report", "dummy"), List.of("--html", "--pdf"), List.of("--csv", "--svg")))
                .containsExactly("dummy", "report --pdf", "export --svg");
    }

    @ParameterizedTest
    @ValueSource(strings = {"empty", "text", "truncated", "other", "folder", "missing.parquet", "missing*"})
    void whatIsNoRecordingIsOneLineAndAHint(String name) throws IOException, SQLException {
        String file = bad(name).toString();
        List<List<String>> tried = new ArrayList<>();
        commands().forEach(command -> tried.add(with(command, file)));
        tried.add(List.of("diff", file, file));
        tried.add(List.of("sql", file, "FROM events"));
        for (List<String> command : tried) {
            Outcome outcome = Outcome.of(command.toArray(String[]::new));
            assertThat(outcome.status()).as("%s", command).isEqualTo(1);
            assertThat(outcome.out()).as("%s", command).isEmpty();
            assertThat(outcome.err()).as("%s", command)
                    .matches("zernel-analyze: opening '" + Pattern.quote(file) + "(/\\*\\.parquet)?': [^\n]+\n(hint: [^\n]+\n)?");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneEventIsEnough(boolean hasFooter) {
        RecordingFixture fixture = recording().region("a", 1, 2);
        for (String key : hasFooter ? List.<String>of() : List.of("format", "recording", "schema", "kinds")) {
            fixture.footer("zernel." + key, null);
        }
        String file = fixture.write(folder.resolve("run.parquet")).toString();
        List<List<String>> tried = new ArrayList<>();
        commands().forEach(command -> tried.add(with(command, file)));
        tried.add(List.of("diff", file, file));
        tried.add(List.of("sql", file, "FROM events"));
        for (List<String> command : tried) {
            Outcome outcome = Outcome.of(command.toArray(String[]::new));
            assertThat(outcome.status()).as("%s: %s", command, outcome.err()).isZero();
            assertThat(outcome.err().lines()).as("%s", command).hasSizeLessThan(2);
            assertThat(outcome.out()).as("%s", command).doesNotContain("NaN", "Infinity");
            boolean isJson = command.contains("--json") || command.contains("--html"); // of which HtmlReportTest reads what it draws
            assertThat(isJson ? "" : outcome.out()).as("%s", command).doesNotContain("null,", " null ");
        }
    }

    private List<String> with(List<String> command, String file) {
        List<String> arguments = new ArrayList<>(command);
        arguments.replaceAll(argument -> argument.equals("OUT") ? folder.resolve("out").toString() : argument);
        arguments.add(file);
        return arguments;
    }

    private Path bad(String name) throws IOException, SQLException {
        Path file = folder.resolve(name);
        switch (name) {
            case "empty" -> Files.createFile(file);
            case "text" -> Files.writeString(file, "kind,name\nio,read\n");
            case "truncated" -> {
                byte[] whole = Files.readAllBytes(recording().training(3, 5).write(folder.resolve("whole.parquet")));
                Files.write(file, Arrays.copyOf(whole, whole.length - 9));
            }
            case "other" -> {
                try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                        Statement statement = connection.createStatement()) {
                    statement.execute("COPY (SELECT 1 AS ts, 'a' AS name) TO '" + file + "' (FORMAT parquet)");
                }
            }
            case "folder" -> Files.createDirectory(file);
            default -> {
                // is not there
            }
        }
        return file;
    }
}
