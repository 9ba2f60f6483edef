package io.dyber.zernel.record.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.record.event.Texts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Every reader sees the same rows: several row groups, columns without a value, odd texts, and a filter that may skip
/// pages. Readers that are not installed are skipped; `ZERNEL_PYTHON` names the Python that has them.
class ReadersTest {
    private static final int TID = 2;
    private static final int TEXT = 6;

    @TempDir static Path folder;
    private static final List<List<@Nullable Object>> ROWS = rows();
    private static JsonNode read = JsonMapper.shared().createObjectNode();

    @BeforeAll
    static void record() throws IOException, InterruptedException {
        Path output = folder.resolve("run.parquet");
        Texts texts = new Texts();
        RecordingFile.Options options = new RecordingFile.Options(10_000, Optional.empty());
        try (RecordingFile file = RecordingFile.create(output, RandomEvents.COLUMNS, texts, options)) {
            Events.write(file, RandomEvents.COLUMNS, texts, ROWS.size(), 1000, RandomEvents.source(ROWS));
            file.finish(Map.of());
        }
        String python = System.getenv().getOrDefault("ZERNEL_PYTHON", "python3");
        Process process = new ProcessBuilder(python, "src/test/workloads/readers.py", output.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        read = JsonMapper.shared().readTree(out.lines().toList().getLast());
    }

    @ParameterizedTest
    @ValueSource(strings = {"pyarrow", "duckdb", "polars", "pandas", "spark"})
    void pythonReadersSeeEveryValue(String reader) {
        JsonNode seen = read.path(reader);
        if (seen.has("missing")) {
            System.out.println("skipped: " + reader + ": " + seen.path("missing").asString());
        }
        assumeThat(seen.path("missing").asString("")).as(reader).isEmpty();

        assertThat(seen.path("rows").asInt()).isEqualTo(ROWS.size());
        assertThat(seen.path("rows_of_thread_7").asLong())
                .isEqualTo(ROWS.stream().filter(row -> Long.valueOf(7).equals(row.get(TID))).count());
        for (int c = 0; c < RandomEvents.COLUMNS.size(); c++) {
            String column = RandomEvents.COLUMNS.get(c).name();
            assertThat(seen.path("columns").path(column).toString()).as(column).isEqualTo(checksum(ROWS, c));
        }
    }

    @Test
    void duckDbInJavaSeesEveryValue() {
        List<List<@Nullable Object>> rows = Duck.query(folder.resolve("run.parquet"), "FROM $file");
        assertThat(rows).hasSize(ROWS.size());
        for (int c = 0; c < RandomEvents.COLUMNS.size(); c++) {
            assertThat(checksum(rows, c)).as(RandomEvents.COLUMNS.get(c).name()).isEqualTo(checksum(ROWS, c));
        }
    }

    private static String checksum(List<List<@Nullable Object>> rows, int column) {
        long count = 0;
        long sum = 0;
        for (List<@Nullable Object> row : rows) {
            switch (row.get(column)) {
                case null -> {}
                case String text -> {
                    CRC32 crc = new CRC32();
                    crc.update(text.getBytes(StandardCharsets.UTF_8));
                    sum += crc.getValue();
                    count++;
                }
                case Number number -> {
                    sum += number.longValue();
                    count++;
                }
                default -> throw new AssertionError(row);
            }
        }
        return "[" + count + ",\"" + Long.toUnsignedString(sum) + "\"]";
    }

    private static List<List<@Nullable Object>> rows() {
        List<List<@Nullable Object>> rows = new ArrayList<>(new RandomEvents(5).rows(25_000));
        for (String odd : List.of("", " ", "\ud834\udd1e", "\u202e\u0301", "a\tb\nc\"'\\", "x".repeat(40_000), "\u0001")) {
            @Nullable Object[] row = new @Nullable Object[RandomEvents.COLUMNS.size()];
            row[0] = "kind0";
            row[1] = 1_000_000_000L + rows.size();
            row[TID] = 7L;
            row[TEXT] = odd;
            rows.add(Arrays.asList(row));
        }
        return List.copyOf(rows);
    }
}
