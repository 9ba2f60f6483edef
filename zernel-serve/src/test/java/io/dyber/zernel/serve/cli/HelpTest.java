package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.Named.named;

import io.dyber.zernel.analyze.cli.Analyze;
import io.dyber.zernel.record.cli.Record;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine;

/// What every command of the three programs says of itself, and to somebody who mistypes it.
final class HelpTest {
    private static Stream<Named<CommandLine>> commands() {
        return Stream.of(Zernel.commandLine(), Record.commandLine(), Analyze.commandLine())
                .flatMap(HelpTest::withSubcommands)
                .map(command -> named(command.getCommandSpec().qualifiedName(), command));
    }

    private static Stream<CommandLine> withSubcommands(CommandLine command) {
        return Stream.concat(
                Stream.of(command), command.getSubcommands().values().stream().flatMap(HelpTest::withSubcommands));
    }

    @Test
    void allCommandsAreHere() {
        assertThat(commands()).hasSizeGreaterThan(25);
    }

    @ParameterizedTest
    @MethodSource("commands")
    void helpKeepsTheRules(CommandLine command) {
        assertThat(HelpRules.breaches(command)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void examplesParse(CommandLine command) {
        HelpRules.examples(command).forEach(example -> CommandWords.of(example).parse());
    }

    @ParameterizedTest
    @MethodSource("commands")
    void aMistypedOptionIsToldTheRightOne(CommandLine command) {
        // What is passed on to another program is that one's to check.
        assumeTrue(command.getCommandSpec().unmatchedArgsBindings().isEmpty());
        int required = command.getCommandSpec().positionalParameters().stream()
                .mapToInt(parameter -> parameter.arity().min())
                .sum();
        List<OptionSpec> options = command.getCommandSpec().options().stream()
                .filter(option -> !option.hidden() && option.longestName().length() > 5)
                .toList();
        assertThat(options).allSatisfy(option -> {
            String name = option.longestName();
            String mistyped = mistyped(name);
            StringWriter err = new StringWriter();
            List<String> arguments = Stream.concat(Stream.of(mistyped), Stream.generate(() -> "x").limit(required)).toList();
            int status = command.setErr(new PrintWriter(err, true)).execute(arguments.toArray(String[]::new));
            assertThat(status).as(mistyped).isEqualTo(CommandLine.ExitCode.USAGE);
            assertThat(err.toString()).as(mistyped).contains(name);
        });
    }

    /// With the last two different neighbours exchanged.
    private static String mistyped(String name) {
        int last = name.length() - 1;
        while (name.charAt(last) == name.charAt(last - 1)) {
            last--;
        }
        return name.substring(0, last - 1) + name.charAt(last) + name.charAt(last - 1) + name.substring(last + 1);
    }

    @ParameterizedTest
    @CsvSource({
        "zernel sevre, zernel serve",
        "zernel report run.parquet, hint: zernel analyze report run.parquet",
        "zernel recover run.parquet, hint: zernel record recover run.parquet",
        "zernel-analyze finding run.parquet, findings",
        "zernel-record docter, hint: did you mean 'zernel-record doctor'?",
    })
    void aMistypedCommandIsToldTheRightOne(String typed, String told) {
        CommandWords words = CommandWords.of(typed);
        StringWriter err = new StringWriter();
        assertThat(words.program().setErr(new PrintWriter(err, true)).execute(words.arguments())).isIn(2, 127);
        assertThat(err.toString()).contains(told);
    }

    @Test
    void theRecorderHasTheCommandsThatTheUmbrellaKnows() {
        assertThat(Record.commandLine().getSubcommands()).containsKeys(Zernel.RECORDER_COMMANDS.toArray(String[]::new));
    }

    @Test
    void helpOfACommandIsAskedForEitherWay() {
        assertThat(out("help", "serve")).isEqualTo(out("serve", "--help")).startsWith("Usage: zernel serve");
        assertThat(out("help")).isEqualTo(out("--help")).startsWith("Usage: zernel ");
    }

    private static String out(String... arguments) {
        StringWriter out = new StringWriter();
        assertThat(Zernel.run(new PrintWriter(out, true), new PrintWriter(new StringWriter()), arguments)).isZero();
        return out.toString();
    }
}
