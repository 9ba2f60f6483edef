package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.sql.LineRule;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.SqlToken;
import io.dyber.zernel.analyze.sql.Threshold;
import io.dyber.zernel.analyze.trace.TraceRecordingTest;
import io.dyber.zernel.analyze.trace.TracedKernelsTest;
import io.dyber.zernel.analyze.trace.TracedOperatorsTest;
import io.dyber.zernel.analyze.trace.TracedRanksTest;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/// What every view and finding keeps to: the recipes of CONTRIBUTING.md. A breach is a text that says what is left out.
///
/// @param library with the objects
/// @param empty an empty recording, opened with that library
/// @param tests names of test methods about findings
/// @param planted findings whose cause a real job or a scenario has
/// @param readers text of the sources in which a view may be read
@NullMarked
record SqlRules(SqlLibrary library, Database empty, Set<String> tests, Set<String> planted, String readers) {
    private static final Set<String> BASE = Set.of("events", "files", "footer");
    private static final List<Class<?>> TESTS = List.of(
            FindingsTest.class, StateFindingsTest.class, GpuFindingsTest.class, RankFindingsTest.class, AnomaliesTest.class,
            ProfilerTest.class, TraceRecordingTest.class, TracedKernelsTest.class, TracedOperatorsTest.class, TracedRanksTest.class,
            WithoutStepsTest.class,
            SmallOperatorsTest.class);
    private static final List<Path> SOURCES = List.of(Path.of("src/test/java"), Path.of("src/main/java"));

    private static final Pattern MODE = Pattern.compile("\\bmode\\((?:[^()]|\\([^()]*\\))*\\)");

    /// Findings whose cause no job has, and why.
    private static final Map<String, String> NOT_PLANTED = Map.ofEntries(
            Map.entry("idle_sms", "only counters of a Hopper GPU tell"),
            Map.entry("idle_tensor_cores", "only counters of a Hopper GPU tell"),
            Map.entry("gpu_errors", "a GPU has to break"),
            Map.entry("uncached_generation", "it takes transformers, which the jobs have not"),
            Map.entry("copy_bound", "it is found in traces of profilers"),
            Map.entry("between_operators", "it is found in traces of profilers"),
            Map.entry("after_optimizer", "it is found in traces of profilers"),
            Map.entry("compiling_steps", "it is found in traces of profilers"),
            Map.entry("gpu_starved", "it is found in traces of profilers"),
            Map.entry("late_gpu", "it is found in traces of profilers"),
            Map.entry("layout_conversions", "it is found in traces of profilers"),
            Map.entry("slow_products", "it is found in traces of profilers"),
            Map.entry("gpu_shared", "it is of other programs on the GPU"),
            Map.entry("throttled_gpu", "a GPU has to be hot"),
            Map.entry("host_bound", "it says what others leave open"),
            Map.entry("unexplained_time", "it says what others leave open"),
            Map.entry("lost_events", "it is of the recording and not of the job"),
            Map.entry("unattached_probes", "it is of the recording and not of the job"),
            Map.entry("hidden_data_bound", "it takes two causes on different machines, which FleetLiveBenchmark plants"));

    /// Findings about time that name no line of the job's code, and why.
    private static final Map<String, String> WITHOUT_LINES = Map.ofEntries(
            Map.entry("cpu_preempted", "the thread stands wherever it was when another took the CPU"),
            Map.entry("too_many_threads", "the thread stands wherever it was when another took the CPU"),
            Map.entry("noisy_neighbour", "it is of other programs"),
            Map.entry("anomaly_detection", "it is switched on in one line, and then in all operators"),
            Map.entry("gpu_shared", "it is of other programs on the GPU"),
            Map.entry("gpu_starved", "a trace has no stacks"),
            Map.entry("late_gpu", "a trace has no stacks"),
            Map.entry("between_operators", "a trace has functions, not lines"),
            Map.entry("after_optimizer", "a trace has functions, not lines"),
            Map.entry("compiling_steps", "a trace has functions, not lines"),
            Map.entry("throttled_gpu", "it is of the GPU"),
            Map.entry("layout_conversions", "it is of the GPU"),
            Map.entry("slow_products", "it is of the GPU"));

    static SqlRules of(SqlLibrary library, Database empty) {
        Set<String> tests = TESTS.stream()
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .map(Method::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> planted = new TreeSet<>(NOT_PLANTED.keySet());
        RealJob.all().forEach(job -> planted.addAll(job.findings()));
        planted.addAll(Expectations.findings());
        return new SqlRules(library, empty, tests, planted, sources());
    }

    private static String sources() {
        StringBuilder text = new StringBuilder();
        for (Path folder : SOURCES) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    text.append(Files.readString(file));
                }
            } catch (IOException e) {
                throw new IllegalStateException("reading '" + folder + "'", e);
            }
        }
        return text.toString();
    }

    /// The names that a finding's tests begin with.
    static List<String> testsOf(String finding) {
        String name = Pattern.compile("_([a-z])").matcher(finding).replaceAll(match -> match.group(1).toUpperCase(java.util.Locale.ROOT));
        return List.of(name + "Fires", name + "IsSilent");
    }

    /// What is left out of an object.
    List<String> breaches(SqlObject object) {
        List<String> breaches = new ArrayList<>();
        checkHeader(object, breaches);
        checkText(object, breaches);
        checkWhatIsRead(object, breaches);
        breaches.addAll(CommonDialect.breaches(object, library));
        if (object.role() == SqlObject.Role.FINDING) {
            checkFinding(object, breaches);
        } else {
            checkView(object, breaches);
        }
        try {
            checkColumns(object, breaches);
        } catch (RecordingException e) {
            breaches.add("its SQL is wrong: " + e.getMessage());
        }
        return breaches;
    }

    private static void checkHeader(SqlObject object, List<String> breaches) {
        add(!object.name().matches("_?[a-z][a-z0-9_]*"), "its name is not of small letters, digits and _", breaches);
        add(!object.title().matches("(?s).{9,109}\\."), "the header does not begin with a sentence of 10 to 110 characters", breaches);
        add(!object.keys().containsKey("needs"), "the header has no line 'needs:'", breaches);
        for (Threshold threshold : Threshold.of(object)) {
            add(threshold.meaning().isEmpty(), "threshold '" + threshold.name() + "' has no comment", breaches);
            add(!threshold.name().matches("[a-z][a-z0-9_]*"), "threshold '" + threshold.name() + "' is not of small letters", breaches);
        }
        if (object.role() == SqlObject.Role.FINDING) {
            add(object.why().isEmpty(), "the header does not say why it matters", breaches);
            for (String key : List.of("severity", "hint")) {
                add(!object.keys().containsKey(key), "the header has no line '" + key + ":'", breaches);
            }
        }
    }

    private static void checkText(SqlObject object, List<String> breaches) {
        object.sql().lines()
                .filter(line -> line.contains("\t") || line.length() > 120)
                .forEach(line -> breaches.add("a line has a tab or more than 120 characters: " + line.strip()));
        add(code(object).toLowerCase(java.util.Locale.ROOT).contains("read_parquet"), "it reads files by path", breaches);
        add(code(object).contains("SELECT *\n"), "it selects * and no columns by name", breaches);
        MODE.matcher(code(object))
                .results()
                .map(MatchResult::group)
                .filter(mode -> !mode.contains("ORDER BY"))
                .forEach(mode -> breaches.add("of values as frequent it takes any, without an order: " + mode));
        add(object.sql().contains("zernel.simulation"), "it reads what only simulated recordings have", breaches);
    }

    private void checkWhatIsRead(SqlObject object, List<String> breaches) {
        Set<String> names = library.objects().stream().map(SqlObject::name).collect(Collectors.toCollection(TreeSet::new));
        names.addAll(BASE);
        Set<String> read = new TreeSet<>();
        Matcher relation =
                Pattern.compile("(?<=FROM |JOIN |in_spans\\(|in_spans\\(\\w{1,40}, )\\w+").matcher(code(object));
        while (relation.find()) {
            if (names.contains(relation.group()) && !relation.group().equals(object.name())) {
                read.add(relation.group());
            }
        }
        if (code(object).contains("_label(")) {
            read.add("files");
        }
        Set<String> needs = new TreeSet<>(object.needs());
        add(!needs.equals(read) || needs.size() != object.needs().size(),
                "'needs:' says " + needs + ", and it reads " + read, breaches);
    }

    private void checkView(SqlObject view, List<String> breaches) {
        String name = view.name();
        add(!Pattern.compile("(?m)^CREATE (VIEW " + name + "|TABLE " + name + "|MACRO " + name + "\\(.*\\)) AS( TABLE)?$")
                .matcher(view.sql()).find(), "no line says 'CREATE VIEW " + name + " AS'", breaches);
        add(Pattern.compile("(?m)^CREATE ").matcher(view.sql()).results().count() != 1, "it creates more than one object", breaches);
        library.findings().stream()
                .filter(finding -> view.needs().contains(finding.name()))
                .forEach(finding -> breaches.add("it reads the finding '" + finding.name() + "'"));
        List<String> others = library.objects().stream()
                .filter(object -> object.needs().contains(name))
                .map(SqlObject::origin)
                .distinct()
                .toList();
        add(others.isEmpty() && !Pattern.compile("\\b" + name + "\\b").matcher(readers).find(),
                "nothing reads it, and no test has rows of it", breaches);
        String place = others.size() == 1 ? others.getFirst() : "/" + name + ".sql";
        add(name.startsWith("_") && !view.origin().endsWith(place),
                "its place is " + place + ", because " + others + " read it", breaches);
    }

    private void checkFinding(SqlObject finding, List<String> breaches) {
        String code = code(finding);
        String last = code.substring(Math.max(code.lastIndexOf("\nSELECT\n"), 0));
        Stream.of("ms_per_step", " speedup(", "bound_text(", "file_label(", "ORDER BY ", "LIMIT 20\n")
                .filter(last::contains)
                .forEach(part -> breaches.add("it makes what sql/finding.sql makes of all: " + part.strip()));
        add(code.contains("simulat"), "it reads what only simulated recordings have", breaches);
        add(FindingReference.advice(finding).isEmpty(), "its advice is no text of some words", breaches);
        for (String test : testsOf(finding.name())) {
            add(tests.stream().noneMatch(name -> name.startsWith(test)), "no test is called " + test + "...", breaches);
        }
        checkLines(finding, breaches);
        add(!planted.contains(finding.name()), "no job of real/jobs.json and no scenario has its cause", breaches);
    }

    private void checkLines(SqlObject finding, List<String> breaches) {
        boolean aboutTime = Pattern.compile("\\blost_ns, -- ").matcher(finding.sql()).find();
        List<LineRule> rules = LineRule.of(finding);
        add(aboutTime && rules.isEmpty() && !WITHOUT_LINES.containsKey(finding.name()),
                "the header has no line 'lines:', which says where its time is", breaches);
        for (LineRule rule : rules) {
            try {
                add(!empty.query(rule.sql()).rows().isEmpty(), "it has lines in an empty recording", breaches);
            } catch (RecordingException e) {
                breaches.add("its lines are wrong: " + e.getMessage());
            }
        }
    }

    private void checkColumns(SqlObject object, List<String> breaches) {
        List<String> columns = columns(object);
        int begin = object.sql().lastIndexOf("\nSELECT\n");
        add(begin < 0, "no line says SELECT", breaches);
        String select = object.sql().substring(Math.max(begin, 0));
        for (String column : columns) {
            add(!Pattern.compile("\\b" + column + ",?\\s+-- \\S.+").matcher(select).find(), "column '" + column + "' has no comment", breaches);
        }
        if (object.role() == SqlObject.Role.VIEW) {
            return;
        }
        int before = breaches.size();
        checkFacts(columns, breaches);
        if (breaches.size() == before) {
            add(!Finding.run(object, empty).isEmpty(), "it finds something in an empty recording", breaches);
        }
    }

    private static void checkFacts(List<String> columns, List<String> breaches) {
        for (List<String> choice : List.of(List.of("subject", "pid"), List.of("value", "part_ns"), List.of("severity", "lost_ns"))) {
            add(choice.stream().noneMatch(columns::contains), "it has no column " + String.join(" or ", choice), breaches);
        }
        add(columns.contains("value") != columns.contains("unit"), "it has one of the columns value and unit alone", breaches);
        add(columns.contains("lost_ns") != columns.contains("bound_ns"), "it has one of the columns lost_ns and bound_ns alone", breaches);
        List<String> texts = List.of("evidence", "advice", "next_command");
        texts.stream().filter(text -> !columns.contains(text)).forEach(text -> breaches.add("it has no column " + text));
        add(columns.containsAll(texts) && !columns.stream().filter(texts::contains).toList().equals(texts),
                "its columns are not in the order " + texts, breaches);
    }

    private List<String> columns(SqlObject object) {
        boolean view = object.role() == SqlObject.Role.VIEW;
        Matcher macro = Pattern.compile("CREATE MACRO \\w+\\((.*)\\)").matcher(object.sql());
        String name = object.name() + (macro.find() ? "(" + macro.group(1).replaceAll("\\w+", "1") + ")" : "");
        return empty.query("DESCRIBE " + (view ? "FROM " + name : object.statement())).texts("column_name");
    }

    private static String code(SqlObject object) {
        StringBuilder code = new StringBuilder();
        int end = 0;
        for (SqlToken token : SqlToken.of(object.sql())) {
            code.append(object.sql(), end, token.begin());
            code.append(switch (token.kind()) {
                case COMMENT -> "\n";
                case TEXT -> "''";
                default -> object.sql().substring(token.begin(), token.end());
            });
            end = token.end();
        }
        return code.append(object.sql().substring(end)).toString();
    }

    private static void add(boolean broken, String breach, List<String> breaches) {
        if (broken) {
            breaches.add(breach);
        }
    }
}
