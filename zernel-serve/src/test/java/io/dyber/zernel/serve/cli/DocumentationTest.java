package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.cli.Analyze;
import io.dyber.zernel.record.cli.Record;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/// The commands that README.md and docs/ show: those that need neither rights nor a running job run here, on simulated
/// recordings, and all others at least parse.
///
/// A command is a line of a code block, fenced or indented, that begins with one of our programs, perhaps after `$`,
/// `sudo` or `jbang`. Files that it names are those of a folder made by [#makeFiles].
final class DocumentationTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern COMMAND = Pattern.compile(
            "(?:\\$ )?((?:sudo (?:-\\S+ )*)?(?:jbang (?:-\\S+ )*)?(?:\\./)?zernel(?:-record|-analyze|-serve)?(?:@dyber)? .*)");
    private static final Pattern ALIAS = Pattern.compile("([\\w-]+)@dyber\\b");
    private static final Pattern FILE = Pattern.compile("[\\w*./-]+\\.(parquet|json\\.gz|yaml|html|csv|json)");
    private static final String DIGESTS = "digests";
    private static final Pattern LINK = Pattern.compile("]\\(([^)#\\s]*)(?:#([^)\\s]*))?\\)");

    static final List<Path> PAGES = pages();

    @TempDir
    private static Path folder;

    private static List<Path> pages() {
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"));
                Stream<Path> top = Files.list(ROOT)) {
            return Stream.concat(top, docs)
                    .filter(path -> path.toString().endsWith(".md") && !path.endsWith("CHANGELOG.md"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Each command once, with the first page that shows it and why it is not run, or an empty reason.
    private static Stream<Arguments> commands() throws IOException {
        Map<String, Path> commands = new TreeMap<>();
        for (Path page : PAGES) {
            codeLines(Files.readString(page)).forEach(line -> {
                Matcher command = COMMAND.matcher(line);
                if (command.matches()) {
                    commands.putIfAbsent(command.group(1), page);
                }
            });
        }
        return commands.entrySet().stream().map(command -> Arguments.of(
                command.getKey(),
                command.getValue().getFileName(),
                notRunBecause(CommandWords.of(command.getKey()).words())));
    }

    private static List<String> codeLines(String page) {
        List<String> lines = new ArrayList<>();
        boolean fenced = false;
        for (String line : page.lines().toList()) {
            if (line.startsWith("```")) {
                fenced = !fenced;
            } else if (fenced || line.startsWith("    ")) {
                lines.add(line.strip());
            }
        }
        return lines;
    }

    private static String notRunBecause(List<String> words) {
        String command = words.size() > 1 ? words.get(1) : "";
        boolean answers = words.stream().anyMatch(List.of("--alerts-only", "--check-rules", "--generate", "--help")::contains);
        return switch (words.getFirst()) {
            case "zernel-record" -> words.stream().anyMatch(word -> word.startsWith("--simulate")) ? "" : "records";
            case "zernel-analyze" -> command.equals("sql") && words.size() == 3
                    ? "reads a terminal"
                    : words.contains("--follow") ? "follows a recording that is being written" : "";
            default -> answers ? "" : command.equals("watch") ? "watches a server" : "goes on until Ctrl-C, or records";
        };
    }

    @BeforeAll
    static void makeFiles() throws IOException {
        simulate("run.parquet", "data-bound-cpu", 1);
        simulate("before.parquet", "sync-bound", 1);
        simulate("after.parquet", "healthy", 1);
        simulate("rank0.parquet", "straggler-rank", 3);
        simulate("rank1.parquet", "straggler-rank", 2);
        String rules = Files.readString(ROOT.resolve("docs/alerts.md")).replaceFirst("(?s).*?```yaml\n(.*?)```.*", "$1");
        Files.writeString(folder.resolve("rules.yaml"), rules);
        writeTrace("trace.json.gz", "run.parquet");
        writeTrace("rank0.json.gz", "rank0.parquet");
        writeOperations();
        writeDigest();
    }

    private static void writeDigest() {
        assertThat(Analyze.commandLine()
                        .setErr(new PrintWriter(new StringWriter()))
                        .execute("digest", folder.resolve("run.parquet").toString(), "-o", folder.resolve(DIGESTS).toString()))
                .isZero();
    }

    /// One step of two ranks that only compute.
    private static void writeOperations() {
        String rows = "SELECT r AS dp_rank, 0 AS stage, r AS rank, 1 AS step, 'forward-compute' AS optype, 0.0 AS start_ts, "
                + "1.0 + r AS duration, 0 AS seq_id, 0 AS mc, 0 AS gmc FROM range(2) AS t(r)";
        assertThat(Analyze.commandLine()
                        .setOut(new PrintWriter(new StringWriter()))
                        .execute(
                                "sql",
                                folder.resolve("run.parquet").toString(),
                                "COPY (" + rows + ") TO '" + folder.resolve("operations.parquet") + "'"))
                .isZero();
    }

    /// A profiler's trace with a launch of a recording's last rank and its kernel.
    private static void writeTrace(String name, String recording) throws IOException {
        StringWriter launch = new StringWriter();
        String query = "SELECT pid, ts_ns // 1000 AS us FROM cuda_launch ORDER BY pid DESC, ts_ns LIMIT 1";
        Analyze.commandLine()
                .setOut(new PrintWriter(launch))
                .execute("sql", "--csv", folder.resolve(recording).toString(), query);
        String[] found = launch.toString().lines().skip(1).findFirst().orElseThrow().split(",");
        try (OutputStreamWriter out = new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(folder.resolve(name))), StandardCharsets.UTF_8)) {
            out.write("""
                    {"traceEvents": [
                    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": PID, "tid": PID, "ts": TIME,
                     "dur": 4, "args": {"correlation": 1}},
                    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": TIME, "dur": 50,
                     "args": {"device": 0, "stream": 7, "correlation": 1}}]}
                    """.replace("PID", found[0]).replace("TIME", found[1]));
        }
    }

    private static void simulate(String name, String scenario, int ranks) {
        String file = folder.resolve(name).toString();
        assertThat(Record.commandLine().setErr(new PrintWriter(new StringWriter())).execute(
                        "--simulate=" + scenario, "--steps", "30", "--ranks", "" + ranks, "-o", file))
                .isZero();
    }

    @ParameterizedTest(name = "{0} in {1}; not run: {2}")
    @MethodSource("commands")
    void aShownCommandWorks(String line, Path page, String notRunBecause) {
        CommandWords words = CommandWords.of(line);
        if (notRunBecause.isEmpty()) {
            StringWriter err = new StringWriter();
            int status = words.program()
                    .setOut(new PrintWriter(new StringWriter()))
                    .setErr(new PrintWriter(err, true))
                    .execute(here(words));
            assertThat(status).as("%s", err).isIn(words.words().contains("--fail-on") ? List.of(0, 3) : List.of(0));
        } else {
            words.parse();
        }
    }

    /// The arguments with files of the folder, and nothing written elsewhere.
    private static String[] here(CommandWords words) {
        List<String> arguments = new ArrayList<>(Arrays.asList(words.arguments()));
        for (int i = 0; i < arguments.size(); i++) {
            String word = arguments.get(i);
            boolean written = i > 0 && arguments.get(i - 1).equals("-o");
            if (written || word.equals(DIGESTS) || FILE.matcher(word).matches()) {
                arguments.set(i, folder.resolve(word).toString());
            }
        }
        String command = arguments.getFirst();
        if (List.of("digest", "export").contains(command) && !arguments.contains("-f")) {
            arguments.add(1, "-f");
        }
        if (command.equals("export") && !arguments.contains("-o")) {
            arguments.addAll(1, List.of("-o", folder.resolve("out").toString()));
        }
        return arguments.toArray(String[]::new);
    }

    @ParameterizedTest
    @FieldSource("PAGES")
    void aLinkLeadsSomewhere(Path page) throws IOException {
        String text = Files.readString(page);
        assertThat(LINK.matcher(text).results().toList()).allSatisfy(link -> {
            String target = link.group(1);
            if (target.contains("://")) {
                return;
            }
            Path file = target.isEmpty() ? page : page.resolveSibling(target).normalize();
            assertThat(file).exists();
            if (link.group(2) != null) {
                assertThat(anchors(Files.readString(file))).as(target).contains(link.group(2));
            }
        });
    }

    @Test
    void theIndexNamesEveryPage() throws IOException {
        String index = Files.readString(ROOT.resolve("docs/README.md"));
        assertThat(PAGES.stream()
                        .filter(page -> page.startsWith(ROOT.resolve("docs")) && !page.endsWith("README.md"))
                        .map(page -> "(" + page.getFileName() + ")"))
                .allSatisfy(page -> assertThat(index).contains(page));
    }

    @Test
    void everyAliasIsInTheCatalog() throws IOException {
        String catalog = Files.readString(ROOT.resolve("jbang-catalog.json"));
        for (Path page : PAGES) {
            assertThat(ALIAS.matcher(Files.readString(page)).results().map(alias -> alias.group(1)))
                    .allSatisfy(alias -> assertThat(catalog).contains("\"" + alias + "\": {"));
        }
    }

    /// A row of a table of messages begins with one of ours, in which `...` stands for what differs.
    @Test
    void aMessageOfTheTroubleshootingPageIsStillSaid() throws IOException {
        String sources = sources();
        List<String> messages = Files.readString(ROOT.resolve("docs/troubleshooting.md"))
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split("`")[1])
                .toList();
        assertThat(messages).hasSizeGreaterThan(20).allSatisfy(message ->
                assertThat(message.split("\\.\\.\\.")).allSatisfy(part -> assertThat(sources).as(part).contains(part)));
    }

    private static String sources() throws IOException {
        StringBuilder text = new StringBuilder();
        for (String folder : List.of(
                "zernel-record/src/main", "zernel-analyze/src/main", "zernel-serve/src/main/java", "zernel-serve/dist/src/main")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
                for (Path file : files.filter(path -> path.toString().matches(".*\\.(java|sql|sh)")).toList()) {
                    text.append(Files.readString(file));
                }
            }
        }
        return text.toString();
    }

    private static List<String> anchors(String page) {
        return page.lines()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
                .map(line -> line.replaceAll("[^\\w -]", "").replace(' ', '-'))
                .toList();
    }
}
