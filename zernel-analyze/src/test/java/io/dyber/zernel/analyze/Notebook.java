package io.dyber.zernel.analyze;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A page of `notebooks/`. Its SQL is what stands in `sql("""..."""`, or in `query("""..."""` where the page is Java.
record Notebook(Path path, JsonNode json) {
    static final Path FOLDER = Path.of("../notebooks").toAbsolutePath().normalize();

    private static final Pattern SQL = Pattern.compile("(?:sql|query)\\(\"\"\"(.+?)\"\"\"", Pattern.DOTALL);

    static List<Notebook> all() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".ipynb"))
                    .sorted()
                    .map(file -> new Notebook(file, JsonMapper.shared().readTree(file)))
                    .toList();
        }
    }

    boolean isJava() {
        return json.at("/metadata/kernelspec/language").stringValue().equals("java");
    }

    /// The cells that run, in order.
    List<JsonNode> codeCells() {
        return json.path("cells").valueStream()
                .filter(cell -> cell.path("cell_type").stringValue().equals("code"))
                .toList();
    }

    /// The statements in order.
    List<String> statements() {
        return codeCells().stream()
                .map(Notebook::source)
                .flatMap(source -> SQL.matcher(source).results())
                .map(found -> found.group(1))
                .toList();
    }

    private static String source(JsonNode cell) {
        StringBuilder source = new StringBuilder();
        cell.path("source").forEach(line -> source.append(line.stringValue()));
        return source.toString();
    }

    @Override
    public String toString() {
        return path.getFileName().toString();
    }
}
