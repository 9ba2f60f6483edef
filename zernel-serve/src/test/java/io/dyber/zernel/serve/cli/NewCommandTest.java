package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.cli.Analyze;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// The recipe of CONTRIBUTING.md for a command, followed with one that does not ship: what is said when a part of its help is
/// left out. That it is tried with bad files, `EveryCommandTest` tests.
class NewCommandTest {
    private static final String DESCRIPTION = "Dummies per process.";
    private static final List<String> FOOTER = List.of(
            "",
            "Examples:",
            "  zernel-analyze dummies run.parquet",
            "  zernel-analyze dummies --csv run.parquet",
            "",
            "Then: zernel-analyze findings run.parquet");

    private static CommandLine analyze(String description, List<String> footer) {
        CommandSpec spec = CommandSpec.create();
        spec.usageMessage().description(description).footer(footer.toArray(String[]::new));
        return Analyze.commandLine().addSubcommand("dummies", new CommandLine(spec));
    }

    private static List<String> breaches(List<String> footer) {
        return HelpRules.breaches(Objects.requireNonNull(analyze(DESCRIPTION, footer).getSubcommands().get("dummies")));
    }

    private static List<String> without(String start) {
        return FOOTER.stream().filter(line -> !line.startsWith(start)).toList();
    }

    @Test
    void theWholeRecipeIsEnough() {
        assertThat(breaches(FOOTER)).isEmpty();
        assertThat(HelpRules.breaches(analyze(DESCRIPTION, FOOTER))).isEmpty();
    }

    @Test
    void helpWithoutTwoExamplesIsNamed() {
        assertThat(breaches(without("Examples:"))).containsExactly("help has 0 examples, and needs two");
        assertThat(breaches(without("  zernel-analyze dummies --csv"))).containsExactly("help has 1 examples, and needs two");
    }

    @Test
    void anExampleOfAnotherCommandIsNamed() {
        List<String> footer = FOOTER.stream().map(line -> line.replace("dummies --csv", "steps --csv")).toList();
        assertThat(breaches(footer))
                .containsExactly("an example is of another command: zernel-analyze steps --csv run.parquet");
    }

    @Test
    void helpThatDoesNotSayWhatComesNextIsNamed() {
        assertThat(breaches(without("Then:"))).containsExactly("help does not say what comes next, in a line 'Then: ...'");
    }

    @Test
    void helpThatFitsNoScreenIsNamed() {
        assertThat(breaches(Stream.concat(FOOTER.stream(), Stream.generate(() -> "note").limit(40)).toList()))
                .containsExactly("help has 48 lines, and a screen has 40");
    }

    @Test
    void aCommandWithoutADescriptionIsNamed() {
        assertThat(HelpRules.breaches(analyze("", FOOTER))).containsExactly("'dummies' has no description");
    }
}
