package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.cli.option.ProgressLine;
import io.dyber.zernel.analyze.cli.option.StandardOutput;
import io.dyber.zernel.analyze.export.Cut;
import io.dyber.zernel.analyze.export.ExportFormat;
import io.dyber.zernel.analyze.export.OutputFile;
import io.dyber.zernel.analyze.export.Selection;
import io.dyber.zernel.analyze.export.TableFile;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "export",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Writes recordings as traces for viewers, or as tables.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze export --perfetto run.parquet",
            "  zernel-analyze export --csv --kind nccl,cuda_sync --from 10 -o - run.parquet",
            "",
            "Then: open it in https://ui.perfetto.dev, or zernel-analyze report cut.parquet"
        })
final class ExportCommand implements Runnable {
    /// How DuckDB says that standard output cannot be written.
    private static final Pattern COPY_FAILED = Pattern.compile("Could not write file \\\\?\"/dev/stdout\\\\?\": ([^\"]+)\"");

    @Mixin
    Job job = new Job();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "OUT",
            description = "Where to, - for standard output (default: the recording's name with a new extension, in this directory).")
    @Nullable String output;

    @Option(names = {"-f", "--force"}, description = "Overwrite the file.")
    boolean force;

    @Option(names = "--kind", paramLabel = "KIND,...", hideParamSyntax = true, split = ",", description = "Only events of these kinds.")
    List<String> kinds = List.of();

    @Option(names = "--pid", paramLabel = "PID,...", hideParamSyntax = true, split = ",", description = "Only events of these processes.")
    List<Long> pids = List.of();

    @Option(names = "--from", paramLabel = "S", description = "Only what ends after second S of the recording.")
    @Nullable Double from;

    @Option(names = "--to", paramLabel = "S", description = "Only what begins before second S of it.")
    @Nullable Double to;

    @ArgGroup(exclusive = true)
    Query query = new Query();

    static final class Query {
        @Option(names = "--view", paramLabel = "NAME", description = "A view of the library instead of the events.")
        @Nullable String view;

        @Option(names = "--sql", paramLabel = "QUERY", description = "A query's result instead of the events.")
        @Nullable String sql;
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// What to say of the written file.
    private final List<String> notes = new ArrayList<>();

    /// The command with an option for each format, one of which is given.
    static CommandSpec spec() {
        CommandSpec spec = CommandSpec.forAnnotatedObject(new ExportCommand());
        ArgGroupSpec.Builder formats = ArgGroupSpec.builder().exclusive(true).multiplicity("1");
        for (ExportFormat format : ExportFormat.ALL) {
            formats.addArg(OptionSpec.builder(format.option()).type(boolean.class).arity("0").description(format.description()).build());
        }
        spec.addArgGroup(formats.build());
        spec.usageMessage().customSynopsis(
                "zernel-analyze export " + ExportFormat.ALL.stream().map(ExportFormat::option).collect(Collectors.joining("|")),
                "                      [OPTION...] FILE...");
        return spec;
    }

    private ExportFormat format() {
        return ExportFormat.ALL.stream()
                .filter(format -> spec.commandLine().getParseResult().hasMatchedOption(format.option()))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public void run() {
        checkOptions();
        String name = output == null ? defaultName() : output;
        try (OutputFile file = new OutputFile(name, force)) {
            long rows = write(name, file);
            String size = file.size() == 0 ? "" : String.format(Locale.ROOT, ", %,d bytes", file.size());
            file.commit();
            PrintWriter err = spec.commandLine().getErr();
            err.println("wrote " + name + ": "
                    + String.format(Locale.ROOT, "%,d %s", rows, isTable() ? "rows" : "events") + size);
            notes.forEach(err::println);
        } catch (IOException e) {
            report(name, new RecordingException("writing '" + name + "': " + e.getMessage(), null, e));
        } catch (RecordingException e) {
            report(name, e);
        }
    }

    /// A reader of standard output that has enough is nothing to speak of.
    private static void report(String name, RecordingException failure) {
        Throwable cause = failure.getCause();
        String why = cause == null ? "" : String.valueOf(cause.getMessage());
        if (!name.equals("-") || cause == null) {
            throw failure;
        }
        Matcher reason = COPY_FAILED.matcher(why);
        if (!StandardOutput.isReadersEnd(why)) {
            throw reason.find()
                    ? new RecordingException("writing '-': " + reason.group(1), null, cause)
                    : failure;
        }
    }

    private long write(String name, OutputFile file) throws IOException {
        try (ProgressLine progress = job.progress();
                Database database = job.open()) {
            database.requireEvents();
            progress.at("writing " + name, 0);
            Selection selection = Selection.of(database, kinds, pids, from, to);
            return switch (format().content()) {
                case TableFile table -> table(table, database, selection, file);
                case ExportFormat.OfTrace<?> trace -> {
                    notes.addAll(clocks(database));
                    yield trace.write(database, selection, file, written ->
                            progress.at("writing " + name, (double) written / database.rows()));
                }
            };
        }
    }

    private void checkOptions() {
        if (job.files.isEmpty()) {
            throw wrong("missing FILE");
        }
        boolean queries = query.sql != null || query.view != null;
        if (queries && !isTable()) {
            throw wrong("--sql and --view go with --csv and --parquet");
        }
        if (queries && (!kinds.isEmpty() || !pids.isEmpty() || from != null || to != null)) {
            throw wrong("--kind, --pid, --from and --to select events: with --sql and --view put them into the query");
        }
        if (query.view != null && !query.view.matches("\\w+")) {
            throw wrong("--view takes a name: " + query.view);
        }
        if (format().content() == TableFile.PARQUET && "-".equals(output)) {
            throw wrong("Parquet cannot go to standard output");
        }
        if (from != null && to != null && from >= to) {
            throw wrong("--from must be less than --to");
        }
    }

    private ParameterException wrong(String why) {
        return new ParameterException(spec.commandLine(), why);
    }

    private boolean isTable() {
        return format().content() instanceof TableFile;
    }

    private String defaultName() {
        String recording = String.valueOf(Path.of(job.files.getFirst()).getFileName()).replaceAll("\\.(parquet|live|\\*)", "");
        return recording + format().suffix();
    }

    private long table(TableFile table, Database database, Selection selection, OutputFile file) {
        if (table == TableFile.PARQUET && query.sql == null && query.view == null) {
            if (database.recordings().size() == 1) {
                return TableFile.write(new Cut(database, selection), file.path());
            }
            notes.add("it is a table of " + database.recordings().size()
                    + " recordings and none itself; cut out of one to have a recording");
        }
        String sql = query.sql != null
                ? query.sql
                : "FROM " + (query.view != null ? query.view : "events WHERE " + selection.where());
        return table.write(database, sql, file.path());
    }

    /// By how much times of other machines were moved.
    private static List<String> clocks(Database database) {
        if (database.recordings().size() == 1) {
            return List.of();
        }
        return database.query("FROM clock_shifts WHERE shift_ns <> 0 OR error_ns IS NULL").rows().stream()
                .map(row -> "times of " + database.recordings().get((int) row.integer("recording")).path()
                        + (row.isNull("error_ns")
                                ? " are by its own clock: no collective compares it with the first recording's"
                                : String.format(
                                        Locale.ROOT,
                                        " are moved by %+.3f ms, +-%.3f ms, to the first recording's clock",
                                        row.integer("shift_ns") / 1e6,
                                        row.integer("error_ns") / 1e6)))
                .toList();
    }
}
