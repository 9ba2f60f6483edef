package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.Suggestion;
import java.io.PrintWriter;
import java.nio.file.InvalidPathException;
import java.util.Optional;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;
import picocli.CommandLine;

/// Where every error is printed: usage exits with 2, data and environment with 1, a bug with 70.
public final class Failures {
    /// Exit status of wrong data or environment.
    static final int DATA = 1;
    /// Exit status of a bug.
    static final int BUG = 70;

    private Failures() {}

    /// Makes a command and its subcommands report errors this way.
    public static CommandLine install(CommandLine commandLine) {
        return commandLine
                .setParameterExceptionHandler(Failures::wrongUsage)
                .setExecutionExceptionHandler((exception, command, _) -> failed(exception, command));
    }

    private static int wrongUsage(ParameterException exception, String[] arguments) {
        CommandLine command = exception.getCommandLine();
        PrintWriter err = command.getErr();
        err.println(toolName(command) + ": " + exception.getMessage());
        if (!UnmatchedArgumentException.printSuggestions(exception, err)) {
            hint(exception, command, err);
        }
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    private static void hint(ParameterException exception, CommandLine command, PrintWriter err) {
        Optional<String> meant = exception instanceof UnmatchedArgumentException unknown
                ? Suggestion.nearest(unknown.getUnmatched().getFirst(), command.getCommandSpec().optionsMap().keySet())
                : Optional.empty();
        if (meant.isPresent()) {
            err.println("hint: " + meant.get());
        } else if (command.getSubcommands().isEmpty()) {
            err.println("hint: '" + command.getCommandSpec().qualifiedName() + " --help' lists the options");
        } else {
            command.usage(err);
        }
    }

    private static int failed(Exception exception, CommandLine command) {
        return switch (exception) {
            case ParameterException usage -> wrongUsage(usage, new String[0]);
            case RecordingException data -> badData(data, command);
            case InvalidPathException path -> badData(
                    new RecordingException(
                            "opening '" + path.getInput() + "': not a file's name in this locale", "start it with LC_ALL=C.UTF-8", path),
                    command);
            default -> bug(exception, command);
        };
    }

    private static int badData(RecordingException data, CommandLine command) {
        command.getErr().println(toolName(command) + ": " + data.getMessage());
        if (data.hint() != null) {
            command.getErr().println("hint: " + data.hint());
        }
        return DATA;
    }

    private static int bug(Exception exception, CommandLine command) {
        command.getErr().println(toolName(command) + ": internal error: " + exception);
        exception.printStackTrace(command.getErr());
        return BUG;
    }

    private static String toolName(CommandLine command) {
        return command.getCommandSpec().root().name();
    }
}
