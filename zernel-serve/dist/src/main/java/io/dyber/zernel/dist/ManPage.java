package io.dyber.zernel.dist;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// A command's manual page, in the `man` macros of troff.
final class ManPage {
    private final StringBuilder page = new StringBuilder();

    private ManPage() {}

    /// `zernel-analyze-report` for the command `report` of `zernel-analyze`.
    static String name(CommandLine command) {
        return command.getCommandSpec().qualifiedName("-");
    }

    static String of(CommandLine command) {
        return new ManPage().write(command).page.toString();
    }

    private ManPage write(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        Help help = new Help(spec, Help.defaultColorScheme(Ansi.OFF));
        String name = name(command);
        page.append(".TH \"%s\" 1 \"\" \"%s\"\n".formatted(
                name.toUpperCase(Locale.ROOT), spec.root().version()[0]));
        section("NAME");
        line(name + " - " + Texts.summary(command));
        section("SYNOPSIS");
        page.append(".B ").append(escaped(spec.qualifiedName(" "))).append('\n');
        line(Texts.flat(help.synopsis(0)).substring(spec.qualifiedName(" ").length()).strip());
        section("DESCRIPTION");
        line(Texts.description(spec.usageMessage().description()));
        List<ArgSpec> parameters = spec.positionalParameters().stream()
                .filter(parameter -> !parameter.hidden()).map(ArgSpec.class::cast).toList();
        if (!parameters.isEmpty()) {
            section("ARGUMENTS");
            parameters.forEach(parameter -> entry(Texts.label(help, parameter), Texts.description(help, parameter)));
        }
        section("OPTIONS");
        for (OptionSpec option : Programs.describedOptions(command)) {
            entry(String.join(", ", option.names()) + Texts.label(help, option), Texts.description(help, option));
        }
        if (!Programs.commands(command).isEmpty()) {
            section("COMMANDS");
            Programs.commands(command).forEach((word, child) -> entry(word, Texts.summary(child)));
        }
        footer(spec.usageMessage().footer());
        section("SEE ALSO");
        line(seeAlso(command));
        return this;
    }

    private static String seeAlso(CommandLine command) {
        return Programs.documented().stream()
                .filter(other -> other.getParent() == null || name(other.getParent()).equals(name(command)))
                .map(ManPage::name)
                .filter(name -> !name.equals(name(command)))
                .map(name -> name + "(1)")
                .collect(Collectors.joining(", "));
    }

    /// As it is laid out: these lines are command lines and what they do.
    private void footer(String[] lines) {
        if (lines.length > 0) {
            section("EXAMPLES AND NOTES");
            page.append(".nf\n");
            for (String line : lines) {
                if (!line.equals("Examples:")) {
                    line(line);
                }
            }
            page.append(".fi\n");
        }
    }

    private void section(String title) {
        page.append(".SH \"").append(title).append("\"\n");
    }

    private void entry(String term, String text) {
        page.append(".TP\n.B ").append(escaped(term)).append('\n');
        line(text);
    }

    private void line(String text) {
        String safe = escaped(text);
        page.append(safe.startsWith(".") || safe.startsWith("'") ? "\\&" : "").append(safe).append('\n');
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-");
    }
}
