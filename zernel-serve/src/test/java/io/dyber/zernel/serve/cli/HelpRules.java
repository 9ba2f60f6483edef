package io.dyber.zernel.serve.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/// What the help of every command keeps to: the recipe of CONTRIBUTING.md.
final class HelpRules {
    /// A screen, such as a terminal beside an editor shows it.
    private static final int LINES = 40;

    private static final int COLUMNS = 80;

    private HelpRules() {}

    /// What is left out of a command's help.
    static List<String> breaches(CommandLine command) {
        List<String> help = help(command);
        List<String> breaches = new ArrayList<>();
        if (help.size() > LINES) {
            breaches.add("help has " + help.size() + " lines, and a screen has " + LINES);
        }
        help.stream()
                .filter(line -> line.length() > COLUMNS)
                .forEach(line -> breaches.add("a line of help has more than " + COLUMNS + " columns: " + line));
        List<String> examples = examples(command);
        if (examples.size() < 2) {
            breaches.add("help has " + examples.size() + " examples, and needs two");
        }
        examples.stream()
                .filter(example -> !example.matches("(sudo )?" + command.getCommandSpec().qualifiedName() + "( .*)?"))
                .forEach(example -> breaches.add("an example is of another command: " + example));
        if (help.stream().noneMatch(line -> line.matches("Then: .*zernel.*"))) {
            breaches.add("help does not say what comes next, in a line 'Then: ...'");
        }
        command.getSubcommands().forEach((name, subcommand) -> {
            String[] description = subcommand.getCommandSpec().usageMessage().description();
            if (description.length == 0 || description[0].isBlank()) {
                breaches.add("'" + name + "' has no description");
            }
        });
        return breaches;
    }

    /// The examples in a command's help.
    static List<String> examples(CommandLine command) {
        return help(command).stream()
                .dropWhile(line -> !line.equals("Examples:"))
                .skip(1)
                .takeWhile(line -> !line.isBlank())
                .map(String::strip)
                .toList();
    }

    private static List<String> help(CommandLine command) {
        return command.getUsageMessage().lines().toList();
    }
}
