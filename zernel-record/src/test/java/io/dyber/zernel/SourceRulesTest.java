package io.dyber.zernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/// Rules about the text of the sources, for all modules at once: what no compiler checks and a review should not have to.
final class SourceRulesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final String BPF_LICENCE = "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause";

    private record Rule(String name, Pattern forbidden) {
        Rule(String name, String forbidden) {
            this(name, Pattern.compile(forbidden));
        }
    }

    private static final List<Rule> RULES =
            List.of(
                    new Rule("documentation is Markdown after three slashes", "^\\s*/\\*\\*"),
                    new Rule("types are written out", "(^|[\\s(,{;])var\\s+\\w+\\s*(=|:|,|\\)|->)"),
                    new Rule("messages say what was being done, not that it did not work", "(?i)\"[^\"]*\\bfailed to\\b"));

    private static final Pattern VAGUE_NAME =
            Pattern.compile("(Abstract\\w*|\\w*(Utils?|Helpers?|Manager|Impl|Base))\\.java");

    @TestFactory
    Stream<DynamicTest> everyJavaFileKeepsTheRule() throws IOException {
        List<Path> files = files(".java");
        return RULES.stream().map(rule -> DynamicTest.dynamicTest(rule.name(), () -> assertThat(breaches(rule, files)).isEmpty()));
    }

    @Test
    void onlyTheModuleOfTheFormatNamesWhatIsInALiveFolder() throws IOException {
        Rule rule = new Rule("names", "\"\\.live\"|\"lock\"|\"meta\\.json\"|\"journal-|\\.arrows\\b|%06d\\.parquet");
        List<Path> others = files(".java").stream()
                .filter(file -> file.toString().contains("/src/main/") && !file.startsWith(ROOT.resolve("zernel-format")))
                .toList();
        assertThat(others).isNotEmpty();
        assertThat(breaches(rule, others)).isEmpty();
    }

    @Test
    void typesAreNamedByTheirSubject() throws IOException {
        assertThat(files(".java")).filteredOn(file -> VAGUE_NAME.matcher(file.getFileName().toString()).matches()).isEmpty();
    }

    @Test
    void theSourcesOfAllModulesAreRead() throws IOException {
        assertThat(files(".java").stream().map(file -> ROOT.relativize(file).getName(0).toString()).distinct())
                .contains("zernel-format", "zernel-record", "zernel-analyze", "zernel-serve");
    }

    @Test
    void everyBpfSourceNamesItsLicenceInTheFirstLines() throws IOException {
        try (Stream<Path> files = Files.list(ROOT.resolve("bpf"))) {
            List<Path> sources = files.filter(file -> file.toString().matches(".*(\\.[ch]|\\.sh|Makefile)")).toList();
            assertThat(sources).isNotEmpty().allSatisfy(
                    file -> assertThat(Files.readAllLines(file).stream().limit(2)).anySatisfy(
                            line -> assertThat(line).contains(BPF_LICENCE)));
        }
    }

    private static List<String> breaches(Rule rule, List<Path> files) throws IOException {
        Stream.Builder<String> found = Stream.builder();
        for (Path file : files) {
            List<String> lines = Files.readAllLines(file);
            IntStream.range(0, lines.size())
                    .filter(i -> rule.forbidden().matcher(lines.get(i)).find())
                    .forEach(i -> found.add(ROOT.relativize(file) + ":" + (i + 1) + ": " + lines.get(i).strip()));
        }
        return found.build().toList();
    }

    private static List<Path> files(String suffix) throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            List<Path> sources =
                    modules.filter(module -> module.getFileName().toString().startsWith("zernel-"))
                            .map(module -> module.resolve("src"))
                            .filter(Files::isDirectory)
                            .toList();
            Stream.Builder<Path> files = Stream.builder();
            for (Path source : sources) {
                try (Stream<Path> all = Files.walk(source)) {
                    all.filter(file -> file.toString().endsWith(suffix)).forEach(files);
                }
            }
            return files.build().filter(file -> !file.endsWith("SourceRulesTest.java")).sorted().toList();
        }
    }
}
