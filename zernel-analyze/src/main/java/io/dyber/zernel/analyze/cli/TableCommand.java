package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.cli.option.Count;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// A command that prints the result of one query, or by an option that of another.
///
/// @param usual what it prints without an option
/// @param choices options of which one may be given
/// @param then a command that shows more
/// @param notes what help says of the columns
record TableCommand(
        String name, List<String> description, Answer usual, List<Choice> choices, List<String> examples, String then, List<String> notes) {
    /// What is printed.
    ///
    /// @param ifEmpty what is said on standard error of a result without rows
    /// @param otherwise what is printed in its place, if that has rows
    record Answer(String sql, String ifEmpty, @Nullable Otherwise otherwise) {
        static Answer of(String sql) {
            return new Answer(sql, "nothing of this was recorded; zernel-analyze info says what was probed", null);
        }

        Answer ifEmpty(String says) {
            return new Answer(sql, says, otherwise);
        }

        Answer orElse(String says, String otherSql) {
            return new Answer(sql, ifEmpty, new Otherwise(says, otherSql));
        }
    }

    /// Another query.
    ///
    /// @param says what is said on standard error when its result is printed
    record Otherwise(String says, String sql) {}

    /// An option.
    ///
    /// @param takesNumber whether it has a value, a number from 1 on, which is the query's parameter
    record Choice(String option, boolean takesNumber, String description, Answer answer) {
        static Choice of(String option, String description, Answer answer) {
            return new Choice(option, false, description, answer);
        }

        static Choice ofNumber(String option, String description, Answer answer) {
            return new Choice(option, true, description, answer);
        }

        private OptionSpec spec() {
            OptionSpec.Builder spec = OptionSpec.builder(option).description(description);
            return takesNumber
                    ? spec.type(Integer.class).arity("1").paramLabel("N").converters(new Count()).build()
                    : spec.type(boolean.class).arity("0").build();
        }
    }

    /// The command, as picocli runs it.
    CommandSpec spec() {
        CommandSpec spec = CommandSpec.forAnnotatedObject(new Run(this)).name(name);
        spec.usageMessage().description(description.toArray(String[]::new)).footer(footer());
        if (choices.size() == 1) {
            spec.addOption(choices.getFirst().spec());
        } else if (!choices.isEmpty()) {
            ArgGroupSpec.Builder group = ArgGroupSpec.builder().exclusive(true);
            choices.forEach(choice -> group.addArg(choice.spec()));
            spec.addArgGroup(group.build());
        }
        return spec;
    }

    private String[] footer() {
        List<String> lines = new ArrayList<>(List.of("", "Examples:"));
        examples.forEach(example -> lines.add("  " + example));
        lines.addAll(List.of("", "Then: " + then));
        if (!notes.isEmpty()) {
            lines.add("");
            lines.addAll(notes);
        }
        return lines.toArray(String[]::new);
    }

    @Command(mixinStandardHelpOptions = true)
    private static final class Run implements Runnable {
        private final TableCommand command;

        @Mixin
        private TablePrinter table = new TablePrinter();

        Run(TableCommand command) {
            this.command = command;
        }

        @Override
        public void run() {
            ParseResult given = table.spec.commandLine().getParseResult();
            for (Choice choice : command.choices) {
                if (given.hasMatchedOption(choice.option)) {
                    Object value = given.matchedOption(choice.option).getValue();
                    table.print(choice.answer, choice.takesNumber ? new Object[] {value} : new Object[0]);
                    return;
                }
            }
            table.print(command.usual);
        }
    }
}
