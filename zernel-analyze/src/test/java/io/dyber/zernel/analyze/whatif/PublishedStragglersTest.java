package io.dyber.zernel.analyze.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Production jobs beside what the authors of arXiv:2505.05713 published of them: `-Dzernel.traces=FOLDER`.
class PublishedStragglersTest {
    private static final Path TRACES = Path.of(System.getProperty("zernel.traces", "../../shared/traces"), "stragglers");
    private static final double CLOSE = 0.01;

    private static List<Path> traces() throws IOException {
        if (!Files.isDirectory(TRACES)) {
            return List.of(TRACES.resolve("trace-none.parquet"));
        }
        try (Stream<Path> files = Files.list(TRACES)) {
            return files.filter(file -> file.getFileName().toString().startsWith("trace-")).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("traces")
    void slowdownsAndSharesAreThosePublished(Path trace) {
        assumeTrue(Files.exists(trace), "no published traces in " + TRACES);
        String name = trace.getFileName().toString().replaceAll("trace-|\\.parquet", "");
        JsonNode result = published("result", name);
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            WhatIf whatIf = WhatIf.of(duckDb, trace.toString());
            assertThat(whatIf.slowdown()).isCloseTo(result.path("blocking_slowdown").asDouble(), within(0.0005));
            assertThat(whatIf.seconds() / whatIf.replayed())
                    .isCloseTo(result.path("launch_slowdown").asDouble(), within(0.0005));
            assertThat(whatIf.mw()).isCloseTo(published("mw", name).path("Mw").asDouble(), within(CLOSE));
            assertThat(whatIf.ms()).isCloseTo(published("ms", name).path("Ms").asDouble(), within(CLOSE));
            Map.of("dp_rank", "dp_rank", "stage", "stage", "operation", "optype").forEach((by, theirs) ->
                    result.path("blocking_decompose_by_" + theirs).forEachEntry((part, slowdown) ->
                            assertThat(slowdownOf(whatIf, by, part)).isCloseTo(slowdown.asDouble(), within(0.0005))));
        }
    }

    private static double slowdownOf(WhatIf whatIf, String by, String name) {
        return whatIf.parts().stream()
                .filter(part -> part.by().equals(by) && part.name().equals(name))
                .mapToDouble(WhatIf.Part::slowdown)
                .findFirst()
                .orElseThrow();
    }

    private static JsonNode published(String what, String name) {
        return JsonMapper.shared().readTree(TRACES.resolve(what + "-" + name + ".json"));
    }
}
