package io.dyber.zernel.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BenchmarksTest {
    private static final Pattern NAMED = Pattern.compile("-Dbench=([a-z-]+)");

    @Test
    void everyBenchmarkThatDocumentsNameIsKnown() throws IOException {
        try (Stream<Path> documents = Files.list(Path.of("../docs"))) {
            List<String> named = documents
                    .filter(file -> file.toString().endsWith(".md"))
                    .flatMap(file -> NAMED.matcher(read(file)).results().map(match -> match.group(1)))
                    .distinct()
                    .toList();
            assertThat(named).contains("analyze", "ring").isSubsetOf(Benchmarks.names());
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
