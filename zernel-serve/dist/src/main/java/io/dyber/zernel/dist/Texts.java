package io.dyber.zernel.dist;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/// The words of a command's help, each on one line.
final class Texts {
    /// Where picocli's renderers put the description of an option or parameter.
    private static final int DESCRIPTION_COLUMN = 4;

    private Texts() {}

    /// What a command does, in its first sentence and without a full stop.
    static String summary(CommandLine command) {
        String text = description(command.getCommandSpec().usageMessage().description());
        int end = text.indexOf(". ");
        return end > 0 ? text.substring(0, end) : text.replaceFirst("\\.$", "");
    }

    /// A description of one or several lines, in which picocli would format `%n`.
    static String description(String[] lines) {
        return flat(String.join(" ", lines).formatted());
    }

    /// What an option or parameter is for, defaults filled in.
    static String description(Help help, ArgSpec argument) {
        Ansi.Text[][] rows = argument instanceof OptionSpec option
                ? help.createDefaultOptionRenderer().render(option, help.parameterLabelRenderer(), help.colorScheme())
                : help.createDefaultParameterRenderer()
                        .render((PositionalParamSpec) argument, help.parameterLabelRenderer(), help.colorScheme());
        return flat(Arrays.stream(rows).map(row -> row[DESCRIPTION_COLUMN].plainString()).collect(Collectors.joining(" ")));
    }

    /// What follows an option's name, with the sign between them; a parameter's label.
    static String label(Help help, ArgSpec argument) {
        return help.parameterLabelRenderer().renderParameterLabel(argument, Ansi.OFF, help.colorScheme().optionParamStyles())
                .plainString();
    }

    static String flat(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }
}
