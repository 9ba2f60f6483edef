package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.cli.option.StandardOutput;
import io.dyber.zernel.format.Version;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/// The root command. An umbrella adds `new Analyze()` as a subcommand and installs [Failures] on its own root.
@Command(
        name = "zernel-analyze",
        description = "Says where a recorded job's time went and what to fix.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Record first:  sudo zernel-record -o run.parquet -- python3 train.py",
            "",
            "Examples:",
            "  zernel-analyze report run.parquet",
            "  zernel-analyze sql run.parquet \"FROM steps WHERE dur_ns > 1e9\"",
            "",
            "Then: zernel-analyze findings run.parquet",
            "",
            "Exit status: 0 done, 1 data or environment, 2 usage, 3 diff --fail-on, 70 a bug."
        })
public final class Analyze implements Runnable {
    private static final List<Listed> COMMANDS = List.of(
            Listed.of(ReportCommand.class, ReportCommand::spec),
            Listed.of(FindingsCommand.class),
            Listed.of(DiffCommand.class),
            Listed.of(Tables.STEPS),
            Listed.of(Tables.PHASES),
            Listed.of(PercentilesCommand.class),
            Listed.of(Tables.MEMORY),
            Listed.of(Tables.NCCL),
            Listed.of(Tables.CRITICAL_PATH),
            Listed.of(DigestCommand.class),
            Listed.of(WhatIfCommand.class),
            Listed.of(Tables.IO),
            Listed.of(Tables.GPU),
            Listed.of(Tables.ANOMALIES),
            Listed.of(StacksCommand.class),
            Listed.of(SqlCommand.class),
            Listed.of(TimelineCommand.class),
            Listed.of(ExportCommand.class, ExportCommand::spec),
            Listed.of(InfoCommand.class));

    /// What help says of a command, and the command with all its options.
    private record Listed(String name, List<String> description, Supplier<CommandSpec> spec) {
        static Listed of(Class<?> type) {
            return of(type, () -> CommandSpec.forAnnotatedObject(type));
        }

        static Listed of(Class<?> type, Supplier<CommandSpec> spec) {
            Command command = type.getAnnotation(Command.class);
            return new Listed(command.name(), List.of(command.description()), spec);
        }

        static Listed of(TableCommand table) {
            return new Listed(table.name(), table.description(), table::spec);
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /// Runs the command and exits.
    public static void main(String[] arguments) {
        int status = run(arguments);
        if (status != 0) {
            // Not for 0: exit asks every jar for a logger first.
            System.exit(status);
        }
    }

    /// Runs the command, and returns its exit status.
    static int run(String... arguments) {
        if (opens(arguments)) {
            Recordings.openAhead();
        }
        StandardOutput out = new StandardOutput();
        try {
            return execute(commandLine(arguments).setOut(out.writer()), out, arguments);
        } finally {
            Recordings.closeAhead();
        }
    }

    /// Executes a command whose standard output is `out`. That not all of it could be written is an error.
    static int execute(CommandLine analyze, StandardOutput out, String... arguments) {
        int status = analyze.execute(arguments);
        analyze.getOut().flush();
        Optional<String> problem = out.problem();
        problem.ifPresent(why -> analyze.getErr().println("zernel-analyze: writing to standard output: " + why));
        return problem.isPresent() && status == 0 ? Failures.DATA : status;
    }

    /// Whether a command follows that is not only asked for its help.
    private static boolean opens(String... arguments) {
        List<String> words = List.of(arguments);
        return words.size() > 1 && !words.contains("--help") && !words.contains("-h");
    }

    /// The command, ready to execute.
    public static CommandLine commandLine() {
        return commandLine(_ -> true);
    }

    /// The command, ready to execute these arguments.
    ///
    /// Reading the options of every command takes longer than most queries. Those that the arguments do not name have
    /// none here, only what help says of them.
    static CommandLine commandLine(String... arguments) {
        return commandLine(name -> Stream.of(arguments).anyMatch(word -> word.equals(name) || word.startsWith("@")));
    }

    private static CommandLine commandLine(Predicate<String> named) {
        CommandLine analyze = new CommandLine(new Analyze());
        analyze.getCommandSpec().versionProvider(() -> new String[] {"${COMMAND-FULL-NAME} " + Version.current()});
        for (Listed command : COMMANDS) {
            if (named.test(command.name)) {
                analyze.addSubcommand(command.spec.get());
            } else {
                CommandSpec listed = CommandSpec.create().name(command.name);
                listed.usageMessage().description(command.description.toArray(String[]::new));
                analyze.addSubcommand(listed);
            }
        }
        return Failures.install(analyze);
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing COMMAND");
    }
}
