package io.dyber.zernel.record;

import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.EventType;
import io.dyber.zernel.record.schema.Field;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// What documents and tests every kind of event: the recipes of CONTRIBUTING.md.
///
/// @param page `bpf/README.md`
/// @param tests text of the tests that record
record KindRules(String page, String tests) {
    private static final List<String> CORE = List.of("kind", "name", "ts_ns", "dur_ns", "pid", "tid", "cpu", "comm");
    private static final Pattern QUOTED = Pattern.compile("`([a-z_0-9*]+)`");

    static KindRules shipped() throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            for (Path file : files.filter(path -> path.toString().endsWith("IT.java")).toList()) {
                text.append(Files.readString(file));
            }
        }
        return new KindRules(Files.readString(Path.of("../bpf/README.md")), text.toString());
    }

    /// What is left out of a kind.
    List<String> breaches(EventType kind) {
        String name = kind.kind();
        List<String> breaches = new ArrayList<>();
        List<String> columns = kind.fields().stream().map(Field::column).map(Column::name).filter(column -> !CORE.contains(column)).toList();
        page.lines()
                .filter(line -> line.startsWith("| `") && line.split("\\|")[1].contains("`" + name + "`"))
                .findFirst()
                .ifPresentOrElse(
                        row -> columns.stream()
                                .filter(column -> !names(row, column))
                                .forEach(column -> breaches.add("the row of '" + name + "' in bpf/README.md does not name the column '" + column + "'")),
                        () -> breaches.add("bpf/README.md has no row of '" + name + "'"));
        if (!Pattern.compile("['\"]" + name + "['\"]").matcher(tests).find()) {
            breaches.add("no IT reads rows of '" + name + "'");
        }
        return breaches;
    }

    /// Whether a row of the table names a column, by itself or by a glob such as `grid_*`.
    private static boolean names(String row, String column) {
        return QUOTED.matcher(row).results()
                .anyMatch(quoted -> column.matches(quoted.group(1).replace("*", ".*")));
    }
}
