package io.dyber.zernel.dist;

import io.dyber.zernel.analyze.cli.Analyze;
import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.serve.cli.Zernel;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/// The programs of the distribution, each with all its commands.
public final class Programs {
    /// What `zernel` hands to another program.
    private static final Set<String> PASSED_ON = Set.of("record", "analyze", "doctor");

    private Programs() {}

    /// Writes the manual pages and completions of all programs below a `share` folder.
    public static void main(String[] arguments) throws IOException {
        Path share = Path.of(arguments[0]);
        for (CommandLine program : all()) {
            String name = program.getCommandName();
            // It is read, not run: without the line that names an interpreter.
            String bash = AutoComplete.bash(name, program).replaceFirst("^#!.*\n", "");
            write(share.resolve("bash-completion/completions/" + name), bash);
            write(share.resolve("zsh/site-functions/_" + name), ZshCompletion.of(program));
            write(share.resolve("fish/vendor_completions.d/" + name + ".fish"), FishCompletion.of(program));
        }
        for (CommandLine command : documented()) {
            writeCompressed(share.resolve("man/man1/" + ManPage.name(command) + ".1.gz"), ManPage.of(command));
        }
    }

    /// `zernel`, `zernel-record` and `zernel-analyze`; under the first hang the others' commands too, as it passes them on.
    static List<CommandLine> all() {
        CommandLine zernel = Zernel.commandLine();
        pass(zernel, "record", Record.commandLine());
        pass(zernel, "analyze", Analyze.commandLine());
        pass(zernel, "doctor", command(Record.commandLine(), "doctor"));
        return List.of(zernel, Record.commandLine(), Analyze.commandLine());
    }

    /// What has a manual page: the programs and their commands, those that `zernel` passes on only under their own name.
    static List<CommandLine> documented() {
        List<CommandLine> pages = new ArrayList<>();
        for (CommandLine program : List.of(Zernel.commandLine(), Record.commandLine(), Analyze.commandLine())) {
            pages.add(program);
            commands(program).forEach((name, command) -> {
                if (!program.getCommandName().equals("zernel") || !PASSED_ON.contains(name)) {
                    pages.add(command);
                }
            });
        }
        return pages;
    }

    /// The commands of a program that its help lists.
    static Map<String, CommandLine> commands(CommandLine program) {
        Map<String, CommandLine> commands = program.getSubcommands();
        commands.values().removeIf(command -> command.getCommandSpec().usageMessage().hidden());
        return commands;
    }

    /// The options of a command that its help lists.
    static List<OptionSpec> options(CommandLine command) {
        return command.getCommandSpec().options().stream().filter(option -> !option.hidden()).toList();
    }

    /// The options of a command that its manual page lists: also those that help leaves out to fit a screen.
    static List<OptionSpec> describedOptions(CommandLine command) {
        return command.getCommandSpec().options().stream().filter(option -> option.description().length > 0).toList();
    }

    private static void pass(CommandLine zernel, String name, CommandLine to) {
        String[] description = command(zernel, name).getCommandSpec().usageMessage().description();
        zernel.getCommandSpec().removeSubcommand(name);
        to.getCommandSpec().usageMessage().description(description);
        zernel.addSubcommand(name, to);
    }

    private static CommandLine command(CommandLine program, String name) {
        CommandLine command = program.getSubcommands().get(name);
        if (command == null) {
            throw new IllegalArgumentException(program.getCommandName() + " has no command " + name);
        }
        return command;
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.resolveSibling(""));
        Files.writeString(file, text);
    }

    private static void writeCompressed(Path file, String text) throws IOException {
        Files.createDirectories(file.resolveSibling(""));
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }
}
