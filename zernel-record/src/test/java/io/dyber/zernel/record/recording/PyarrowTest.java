package io.dyber.zernel.record.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.live.Needs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What Python sees of a file and of a journal.
class PyarrowTest {
    private static final String ROWS =
            """
            import sys, pyarrow as pa, pyarrow.parquet as pq
            kind, path = sys.argv[1:3]
            if kind == 'parquet':
                file = pq.ParquetFile(path, page_checksum_verification=True)
                for g in range(file.metadata.num_row_groups):
                    for c in range(file.metadata.num_columns):
                        chunk = file.metadata.row_group(g).column(c)
                        assert chunk.has_column_index and chunk.has_offset_index, (g, c)
                table = file.read()
            else:
                table = pa.ipc.open_stream(path).read_all()
                table.validate(full=True)
            columns = [c.to_pylist() for c in table.columns]
            for row in sorted(zip(*columns), key=lambda r: r[1]):
                print('|'.join('' if v is None else str(v) for v in row))
            """;

    @TempDir Path folder;

    @Test
    void pythonReadsTheFileAndTheJournal() throws IOException, InterruptedException {
        String python = Needs.python("pyarrow.parquet");
        List<List<@Nullable Object>> rows = new RandomEvents(11).rows(30_000);
        Path output = folder.resolve("run.parquet");
        StringDictionary texts = new StringDictionary();
        RecordingFile.Options options = new RecordingFile.Options(10_000, Optional.empty());
        try (RecordingFile file = RecordingFile.create(output, RandomEvents.COLUMNS, texts, options)) {
            Events.write(file, RandomEvents.COLUMNS, texts, 9_000, 1000, RandomEvents.source(rows));
            Path journal = folder.resolve("run.parquet.live/journal-000000.arrows");
            assertThat(run(python, "journal", journal)).isEqualTo(lines(rows.subList(0, 9_000)));
            List<List<@Nullable Object>> rest = rows.subList(9_000, 30_000);
            Events.write(file, RandomEvents.COLUMNS, texts, 21_000, 1000, RandomEvents.source(rest));
            file.finish(Map.of());
        }
        assertThat(run(python, "parquet", output)).isEqualTo(lines(rows));
    }

    private static List<String> lines(List<List<@Nullable Object>> rows) {
        return rows.stream()
                .map(row -> String.join("|", row.stream().map(v -> v == null ? "" : v.toString()).toList()))
                .toList();
    }

    private static List<String> run(String python, String kind, Path file) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(python, "-c", ROWS, kind, file.toString()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return output.lines().toList();
    }
}
