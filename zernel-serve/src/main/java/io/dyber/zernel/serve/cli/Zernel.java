package io.dyber.zernel.serve.cli;

import io.dyber.zernel.analyze.cli.Analyze;
import io.dyber.zernel.format.Version;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/// The command `zernel`: one name in front of recording, analyzing and serving.
@Command(
        name = "zernel",
        description = "Finds out why a training or inference job is slow.",
        subcommands = {
            RecordCommand.class,
            AnalyzeCommand.class,
            ServeCommand.class,
            WatchCommand.class,
            McpCommand.class,
            DemoCommand.class,
            DoctorCommand.class
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Examples:",
            "  sudo zernel record -o run.parquet -- python3 train.py",
            "  zernel analyze report run.parquet",
            "",
            "Then: zernel COMMAND --help"
        })
public final class Zernel implements Callable<Integer> {
    /// The recorder is a program of its own, which is not on this one's class path.
    static final List<String> RECORDER_COMMANDS = List.of("probes", "recover", "mark");

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--verbose", scope = CommandLine.ScopeType.INHERIT, description = "Also show stack traces.")
    private boolean verbose;

    /// Starts the command of the process.
    public static void main(String... arguments) {
        // The library warns of clients that break the protocol, as often as they do.
        System.setProperty("org.slf4j.simpleLogger.log.org.eclipse.jetty", "error");
        System.exit(run(writer(System.out), writer(System.err), arguments));
    }

    private static PrintWriter writer(PrintStream stream) {
        return new PrintWriter(stream, true, stream.charset());
    }

    /// Runs one command line and gives its exit code: 0 fine, 1 environment or data, 2 usage, 70 bug.
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        List<String> words = asked(List.of(arguments));
        Optional<Integer> passedOn = passOn(err, words);
        if (passedOn.isPresent()) {
            return passedOn.get();
        }
        return commandLine().setOut(out).setErr(err).execute(words.toArray(String[]::new));
    }

    /// The command, ready to execute.
    public static CommandLine commandLine() {
        Zernel zernel = new Zernel();
        CommandLine line = new CommandLine(zernel);
        line.getCommandSpec().versionProvider(() -> new String[] {"zernel " + Version.current()});
        return line
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((mistake, arguments) -> usage(mistake, List.of(arguments)))
                .setExecutionExceptionHandler((failure, command, _) -> zernel.report(failure, command));
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        out.println("""
                Zernel records what a running job does and says why it is slow.

                Make a first recording (of a demo job):       sudo zernel demo
                Record a running job, Ctrl-C to stop:         sudo zernel record -o run.parquet -p PID
                Record a job from its start:                  sudo zernel record -o run.parquet -- python3 train.py
                Read where its time went:                     zernel analyze report run.parquet
                Replay it as live metrics and a web page:     zernel serve run.parquet
                See what this machine can record:             sudo zernel doctor

                zernel --help lists the commands, zernel COMMAND --help their options.""");
        out.flush();
        return 0;
    }

    /// `help serve` is `serve --help`, which also the commands answer that are passed on.
    private static List<String> asked(List<String> arguments) {
        if (arguments.isEmpty() || !arguments.getFirst().equals("help")) {
            return arguments;
        }
        return arguments.size() == 1 ? List.of("--help") : List.of(arguments.get(1), "--help");
    }

    /// Runs the commands that have an argument syntax of their own, `--` and all; empty for the others.
    private static Optional<Integer> passOn(PrintWriter err, List<String> arguments) {
        if (arguments.isEmpty()) {
            return Optional.empty();
        }
        List<String> rest = arguments.subList(1, arguments.size());
        try {
            return switch (arguments.getFirst()) {
                case "record" -> Optional.of(RecordCommand.run(rest));
                case "doctor" -> Optional.of(DoctorCommand.run(rest));
                case "analyze" -> Optional.of(AnalyzeCommand.run(rest));
                default -> Optional.empty();
            };
        } catch (Failure | InterruptedException e) {
            return Optional.of(Failure.report("zernel " + arguments.getFirst(), e, false, err));
        }
    }

    private static int usage(CommandLine.ParameterException mistake, List<String> arguments) {
        CommandLine command = mistake.getCommandLine();
        String name = command.getCommandSpec().qualifiedName(" ");
        PrintWriter err = command.getErr();
        err.println(name + ": " + mistake.getMessage());
        Optional<String> owner = arguments.isEmpty() ? Optional.empty() : ownerOf(arguments.getFirst());
        if (owner.isPresent()) {
            err.println("hint: " + owner.get() + " " + String.join(" ", arguments));
        } else {
            CommandLine.UnmatchedArgumentException.printSuggestions(mistake, err);
            err.println("hint: '" + name + " --help' lists " + (command.getParent() == null ? "the commands" : "the options"));
        }
        err.flush();
        return CommandLine.ExitCode.USAGE;
    }

    /// Which of the programs behind this one has such a command, e.g. `report`.
    private static Optional<String> ownerOf(String command) {
        if (Analyze.commandLine().getSubcommands().containsKey(command)) {
            return Optional.of("zernel analyze");
        }
        return RECORDER_COMMANDS.contains(command) ? Optional.of("zernel record") : Optional.empty();
    }

    private int report(Exception failure, CommandLine command) {
        PrintWriter err = command.getErr();
        int code = Failure.report(command.getCommandSpec().qualifiedName(" "), failure, verbose, err);
        err.flush();
        return code;
    }
}
