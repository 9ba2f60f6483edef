package io.dyber.zernel.record.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.live.Needs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Readers of Parquet that are not ours.
public final class Readers {
    /// What a reader sees: of each column how many values are not NULL, and a checksum of them.
    ///
    /// @param rowsOfThread7 found by a filter that may skip pages
    public record Seen(long rows, long rowsOfThread7, Map<String, String> columns) {}

    private Readers() {}

    /// Reads the file in the Python that `ZERNEL_PYTHON` names. A reader that is not installed skips the test, with a
    /// reason; only Spark may be missing where nothing else may.
    public static Seen python(String reader, Path file) throws IOException, InterruptedException {
        String python = Needs.python("sys");
        Process process = new ProcessBuilder(python, "src/test/workloads/readers.py", reader, file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        JsonNode seen = JsonMapper.shared().readTree(out.lines().toList().getLast());
        if (seen.has("missing")) {
            missing(reader, seen.path("missing").asString());
        }
        Map<String, String> columns = new LinkedHashMap<>();
        seen.path("columns").propertyStream().forEach(c -> columns.put(c.getKey(), c.getValue().toString()));
        return new Seen(seen.path("rows").asLong(), seen.path("rows_of_thread_7").asLong(), columns);
    }

    private static void missing(String reader, String why) {
        if (reader.equals("spark")) {
            System.out.println("skipped: spark: " + why);
            Assumptions.abort(why);
        }
        Needs.skip("needs " + reader + " in ZERNEL_PYTHON: " + why);
    }

    /// Reads the file with DuckDB in this process.
    public static Seen duckDb(Path file) {
        List<List<@Nullable Object>> names = Duck.query(file, "SELECT column_name FROM (DESCRIBE FROM $file)");
        List<List<@Nullable Object>> rows = Duck.query(file, "FROM $file");
        long ofThread7 = Duck.query(file, "FROM $file WHERE tid = 7").size();
        return seen(names.stream().map(name -> String.valueOf(name.getFirst())).toList(), rows, ofThread7);
    }

    static Seen seen(List<String> names, List<List<@Nullable Object>> rows, long ofThread7) {
        Map<String, String> columns = new LinkedHashMap<>();
        for (int c = 0; c < names.size(); c++) {
            columns.put(names.get(c), checksum(rows, c));
        }
        return new Seen(rows.size(), ofThread7, columns);
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
}
