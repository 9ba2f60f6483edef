package io.dyber.zernel.analyze.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The root command. An umbrella adds `new Analyze()` as a subcommand and installs [Failures] on its own root.
@Command(
        name = "zernel-analyze",
        description = "Says where a recorded job's time went and what to fix.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ReportCommand.class,
            FindingsCommand.class,
            DiffCommand.class,
            StepsCommand.class,
            PhasesCommand.class,
            PercentilesCommand.class,
            MemoryCommand.class,
            NcclCommand.class,
            IoCommand.class,
            GpuCommand.class,
            AnomaliesCommand.class,
            SqlCommand.class,
            TimelineCommand.class,
            ExportCommand.class,
            InfoCommand.class
        },
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
            "Exit status: 0 done, 1 the data or the environment, 2 wrong usage, 3 diff --fail-on, 70 a bug."
        })
public final class Analyze implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /// Runs the command and exits.
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /// The command, ready to execute.
    public static CommandLine commandLine() {
        return Failures.install(new CommandLine(new Analyze()));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing COMMAND");
    }
}
