package io.dyber.zernel.record.sink;

import static io.dyber.zernel.record.sink.Events.COLUMNS;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.event.Texts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingFileTest {
    private static final Map<String, String> FOOTER = Map.of("zernel.format", "1");

    @TempDir Path folder;

    @Test
    void everyValueComesBack() {
        Path file = record(3, row -> switch ((int) row) {
            case 0 -> new Object[] {"io", "read", Long.MIN_VALUE, 0L, 7L, Long.MAX_VALUE, "/tmp/\u00e4\u4f60\ud83d\ude00"};
            case 1 -> new Object[] {"io", null, 5L, null, 7L, Long.MIN_VALUE, ""};
            default -> new Object[] {"wait", "futex", Long.MAX_VALUE, -1L, 7L, null, null};
        });

        assertThat(Duck.query(file, "FROM $file")).containsExactly(
                asList("io", "read", Long.MIN_VALUE, 0L, 7L, Long.MAX_VALUE, "/tmp/\u00e4\u4f60\ud83d\ude00"),
                asList("io", null, 5L, null, 7L, Long.MIN_VALUE, ""),
                asList("wait", "futex", Long.MAX_VALUE, -1L, 7L, null, null));
    }

    @Test
    void noEventsGiveAnEmptyTable() {
        Path file = record(0, _ -> new Object[0]);

        assertThat(Duck.query(file, "DESCRIBE FROM $file").stream().map(row -> row.get(0) + " " + row.get(1)))
                .containsExactly("kind VARCHAR", "name VARCHAR", "ts_ns BIGINT", "dur_ns BIGINT", "tid BIGINT",
                        "bytes BIGINT", "path VARCHAR");
        assertThat(Duck.query(file, "SELECT count(*) FROM $file")).containsExactly(asList(0L));
    }

    private Path record(long rows, LongFunction<Object[]> row) {
        return record(rows, 1000, new RecordingFile.Options(), row);
    }

    private Path record(long rows, int batchRows, RecordingFile.Options options, LongFunction<Object[]> row) {
        Path output = folder.resolve("run.parquet");
        Texts texts = new Texts();
        try (RecordingFile file = RecordingFile.create(output, COLUMNS, texts, options)) {
            Events.write(file, COLUMNS, texts, rows, batchRows, row);
            file.finish(FOOTER);
        }
        return output;
    }
}
