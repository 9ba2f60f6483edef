package io.dyber.zernel.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/// The manual pages and completions hold every command and option, and the shells that are here read and use them.
final class ProgramsTest {
    @TempDir
    private static Path share;

    @BeforeAll
    static void writeAll() throws IOException {
        Programs.main(new String[] {share.toString()});
    }

    @Test
    void everyCommandHasAManualPageWithItsOptions() throws IOException {
        for (CommandLine command : Programs.documented()) {
            String page = text(manual(ManPage.name(command))).replace("\\-", "-");
            assertThat(page).contains(".SH \"NAME\"\n" + ManPage.name(command) + " - ");
            assertThat(Programs.commands(command).keySet()).allSatisfy(name -> assertThat(page).contains(".B " + name + "\n"));
            for (OptionSpec option : Programs.options(command)) {
                assertThat(page).contains(".B " + String.join(", ", option.names()));
            }
        }
        assertThat(manual("zernel-analyze-report")).exists();
        assertThat(manual("zernel-record-doctor")).exists();
    }

    @Test
    void manualPageHasWhatHelpLeavesOut() throws IOException {
        assertThat(text(manual("zernel-record"))).contains(".B \\-\\-strength=SHARE").contains("at most 80%").doesNotContain("backend");
    }

    @Test
    void manualPageFillsDefaultsIn() throws IOException {
        assertThat(text(manual("zernel-record"))).contains("run.parquet").doesNotContain("${");
    }

    @Test
    void everyShellHasEveryCommandAndOption() throws IOException {
        for (CommandLine program : Programs.all()) {
            holdsAll(program, program.getCommandName());
        }
    }

    private static void holdsAll(CommandLine command, String program) throws IOException {
        for (Path script : List.of(bash(program), zsh(program))) {
            assertThat(Programs.commands(command).keySet()).allSatisfy(name -> assertThat(script).content().contains(name));
            assertThat(longNames(command)).allSatisfy(name -> assertThat(script).content().contains(name));
        }
        assertThat(longNames(command)).allSatisfy(name -> assertThat(fish(program)).content().contains(" -l " + name.substring(2)));
        for (Map.Entry<String, CommandLine> child : Programs.commands(command).entrySet()) {
            assertThat(fish(program)).content().contains(" -a " + child.getKey() + " ");
            holdsAll(child.getValue(), program);
        }
    }

    private static List<String> longNames(CommandLine command) {
        return Programs.options(command).stream()
                .flatMap(option -> Stream.of(option.names()))
                .filter(name -> name.startsWith("--"))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "zernel-analyze, rep, report",
        "zernel-analyze, report --js, --json",
        "zernel-record, --flight, --flight-recorder",
        "zernel, analyze perc, percentiles",
        "zernel, record --simul, --simulate",
        "zernel, serve --foll, --follow",
        "zernel-analyze, findings --explain data_b, data_bound",
        "zernel-record, --simulate comm-o, comm-overlapped"
    })
    void bashAndFishComplete(String program, String typed, String completed) throws Exception {
        String words = program + " " + typed;
        String bash = run("bash", "-c", """
                source '%s'; COMP_LINE='%s'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(%2$s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                set -- $(complete -p %s); while [ "$1" != -F ]; do shift; done
                $2; printf '%%s\\n' "${COMPREPLY[@]}"
                """.formatted(bash(program), words, program));
        assertThat(bash.lines().map(String::strip)).containsOnlyOnce(completed);
        if (exists("fish")) {
            String fish = run("fish", "--no-config", "-c", "source '%s'; complete -C '%s'".formatted(fish(program), words));
            assertThat(fish.lines().map(line -> line.replaceFirst("\t.*", ""))).containsOnlyOnce(completed);
        }
    }

    @ParameterizedTest
    @CsvSource({"zernel", "zernel-record", "zernel-analyze"})
    void shellsReadTheScripts(String program) throws Exception {
        assertThat(run("bash", "-n", bash(program).toString())).isEmpty();
        if (exists("zsh")) {
            assertThat(run("zsh", "-n", zsh(program).toString())).isEmpty();
        }
        if (exists("fish")) {
            assertThat(run("fish", "--no-execute", fish(program).toString())).isEmpty();
        }
    }

    @Test
    void troffHasNothingToSayAboutThePages() throws Exception {
        assumeTrue(exists("groff"), "no groff here");
        for (CommandLine command : Programs.documented()) {
            assertThat(run("sh", "-c", "gunzip -c '%s' | groff -man -Tutf8 -ww -z 2>&1".formatted(manual(ManPage.name(command))))).isEmpty();
        }
    }

    private static boolean exists(String program) {
        return Stream.of("/bin", "/usr/bin", "/usr/local/bin").anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("%s: %s", String.join(" ", command), output).isZero();
        return output;
    }

    private static Path manual(String name) {
        return share.resolve("man/man1/" + name + ".1.gz");
    }

    private static String text(Path compressed) throws IOException {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(compressed))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Path bash(String program) {
        return share.resolve("bash-completion/completions/" + program);
    }

    private static Path zsh(String program) {
        return share.resolve("zsh/site-functions/_" + program);
    }

    private static Path fish(String program) {
        return share.resolve("fish/vendor_completions.d/" + program + ".fish");
    }
}
