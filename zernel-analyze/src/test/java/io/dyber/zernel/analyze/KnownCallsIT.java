package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Calls that have a faster way are known by the functions in which they really run.
class KnownCallsIT {
    /// Of the samples; the rest of some is in the line itself, as what is done with each element of a tensor.
    private static final double LEAST = 0.25;

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void needs() throws IOException, InterruptedException {
        PlantedCausesIT.needs(
                "needs a Python with torch: set ZERNEL_PYTHON", List.of(PlantedCausesIT.PYTHON, "-c", "import torch"));
    }

    @Test
    void aQuarterAtLeastOfACallIsInStacksThatTellIt() throws IOException, InterruptedException {
        Map<String, RecordingFixture> called = stacks();
        assertThat(called).hasSizeGreaterThan(30);
        Set<String> wrong = new TreeSet<>();
        for (Map.Entry<String, RecordingFixture> one : called.entrySet()) {
            Path file = folder.resolve(one.getKey().replaceAll("\\W+", "-") + ".parquet");
            one.getValue().write(file);
            try (Database database = Recordings.open(file.toString())) {
                Map<String, Double> shares = database.query("""
                        SELECT coalesce(call, '') AS call, sum(ns) / sum(sum(ns)) OVER () AS share
                        FROM stack_events LEFT JOIN faster_ways USING (id) GROUP BY ALL
                        """).rows().stream()
                        .collect(Collectors.toMap(row -> row.requiredText("call"), row -> Double.valueOf(row.requiredText("share"))));
                if (shares.getOrDefault(one.getKey(), 0.0) < LEAST) {
                    wrong.add(one.getKey() + " is told as " + shares);
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    /// By call, samples of a program that does nothing else.
    private static Map<String, RecordingFixture> stacks() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(PlantedCausesIT.PYTHON, "src/test/workloads/known_calls.py", "--stacks")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        Map<String, RecordingFixture> called = new TreeMap<>();
        for (String line : out.lines().toList()) {
            JsonNode told = JsonMapper.shared().readTree(line);
            RecordingFixture fixture = RecordingFixture.recording();
            int at = 0;
            for (Map.Entry<String, JsonNode> stack : told.path("stacks").properties()) {
                for (int i = 0; i < stack.getValue().asInt(); i++) {
                    fixture.sample(at, stack.getKey());
                    at += 20;
                }
            }
            called.put(told.path("call").asString(), fixture);
        }
        return called;
    }
}
