package io.dyber.zernel.analyze;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// What every format of the report and of `export` keeps to: the recipes of CONTRIBUTING.md.
public final class FormatRules {
    private static final Path TESTS = Path.of("src/test/java");

    private FormatRules() {}

    /// What is left out of formats.
    ///
    /// @param classes that write formats
    /// @param opened the classes that the lines of the list open
    /// @param list where they are listed
    /// @param options those of the list
    /// @param tests text of the tests
    public static List<String> breaches(
            List<Class<?>> classes, List<Class<?>> opened, String list, List<String> options, String tests) {
        List<String> breaches = new ArrayList<>();
        classes.stream()
                .filter(type -> !opened.contains(type))
                .forEach(type -> breaches.add("no line of " + list + " opens " + type.getSimpleName()));
        options.stream()
                .filter(option -> !tests.contains("\"" + option + "\""))
                .forEach(option -> breaches.add("no test gives the option " + option));
        return breaches;
    }

    /// Text of the tests but of this one, and of those about every command.
    public static String tests(Class<?> but) throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.walk(TESTS)) {
            List<Path> tests = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith(but.getSimpleName() + ".java") && !file.endsWith("EveryCommandTest.java"))
                    .toList();
            for (Path test : tests) {
                text.append(Files.readString(test));
            }
        }
        return text.toString();
    }
}
