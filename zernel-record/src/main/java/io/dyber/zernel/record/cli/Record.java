package io.dyber.zernel.record.cli;

import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.Version;
import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.probe.ProbeSyntaxException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import picocli.CommandLine;

/// The command `zernel-record`: options, exit codes and messages in one place.
///
/// Exit status: 0 recorded (with a command: that command's status), 1 the machine or the data said no, 2 wrong usage,
/// 127 no such command, 70 a defect of ours.
@SuppressWarnings("AvoidCommonTypeNames")
public final class Record {
    static final int ENVIRONMENT = 1;
    static final int USAGE = 2;
    static final int DEFECT = 70;

    private Record() {}

    public static void main(String[] arguments) {
        System.exit(run(CallTime::nanos, arguments));
    }

    /// Runs the command in this JVM and returns its exit status.
    public static int run(String... arguments) {
        return run(Clock::monotonicNanos, arguments);
    }

    private static int run(LongSupplier calledAt, String... arguments) {
        return commandLine(calledAt).execute(arguments);
    }

    /// The command, ready to execute.
    public static CommandLine commandLine() {
        return commandLine(Clock::monotonicNanos);
    }

    private static CommandLine commandLine(LongSupplier calledAt) {
        CommandLine record = new CommandLine(new RecordCommand());
        record.getCommandSpec().versionProvider(() -> new String[] {"zernel-record " + Version.current()});
        return record
                .addSubcommand(new ProbesCommand())
                .addSubcommand(new DoctorCommand())
                .addSubcommand(new RecoverCommand())
                .addSubcommand(new MarkCommand(calledAt))
                .setStopAtPositional(true)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpLongOptionsMaxWidth(24)
                .setExecutionExceptionHandler((exception, command, _) -> report(exception, command))
                .setParameterExceptionHandler((exception, _) -> usage(exception));
    }

    private static int usage(CommandLine.ParameterException exception) {
        CommandLine command = exception.getCommandLine();
        PrintWriter err = command.getErr();
        if (exception.getCause() instanceof ProbeSyntaxException syntax) {
            err.println("zernel-record: " + syntax.getMessage());
            if (!syntax.hint().isEmpty()) {
                err.println("hint: " + syntax.hint());
                return USAGE;
            }
        } else {
            err.println("zernel-record: " + exception.getMessage());
            CommandLine.UnmatchedArgumentException.printSuggestions(exception, err);
        }
        err.println("hint: '" + command.getCommandSpec().qualifiedName() + " --help' lists the options");
        return USAGE;
    }

    /// Prints what could not be done, and returns the exit status for that.
    static int report(Exception exception, CommandLine command) {
        PrintWriter err = command.getErr();
        switch (exception) {
            case BpfException e -> print(err, e.getMessage(), e.hint());
            case RecorderException e -> print(err, e.getMessage(), e.hint());
            case RecordingException e -> print(err, String.valueOf(e.getMessage()), Optional.ofNullable(e.hint()));
            case ProbeSyntaxException e -> {
                print(err, String.valueOf(e.getMessage()), Optional.empty());
                return USAGE;
            }
            default -> {
                err.println("zernel-record: internal error: please report it with these lines");
                exception.printStackTrace(err);
                return DEFECT;
            }
        }
        boolean notFound = exception instanceof RecorderException e && e.getMessage().endsWith("no such command");
        if (notFound) {
            suggest(command);
            return 127;
        }
        return ENVIRONMENT;
    }

    /// A mistyped command of ours is to the recorder a program that is not there.
    private static void suggest(CommandLine command) {
        List<String> words = command.getParseResult().matchedPositionalValue(0, List.of());
        List<String> meant = words.isEmpty()
                ? List.of()
                : new CommandLine.UnmatchedArgumentException(command, words.subList(0, 1)).getSuggestions();
        meant.stream()
                .limit(1)
                // The nearest may be far.
                .filter(name -> name.regionMatches(0, words.getFirst(), 0, 1))
                .forEach(name -> command.getErr().println("hint: did you mean 'zernel-record " + name + "'?"));
    }

    private static void print(PrintWriter err, String message, Optional<String> hint) {
        err.println("zernel-record: " + message);
        hint.ifPresent(text -> err.println("hint: " + text));
    }
}
