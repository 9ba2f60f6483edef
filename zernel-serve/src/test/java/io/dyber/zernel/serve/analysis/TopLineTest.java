package io.dyber.zernel.serve.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TopLineTest {
    @TempDir
    private Path folder;

    @Test
    void theLineThatHoldsMostTimeComesFirstWithWhatItCallsMost() {
        assertThat(linesOf("""
                SELECT kind, name, i * 1000000 AS ts_ns, ms * 1000000 AS dur_ns, period * 1000000 AS period_ns, 1 AS pid, 1 AS tid, stack
                FROM (VALUES
                    ('io', 'read', 10, 30, NULL, 'main (/job/a.py:1);load (/job/b.py:2);fetch (/py/site-packages/p/q.py:3)'),
                    ('wait', 'futex', 50, 10, NULL, 'main (/job/a.py:1)'),
                    ('wait', 'clock_nanosleep', 70, 4, NULL, 'main (/job/a.py:1)'),
                    ('sample', 'on-cpu', 90, NULL, 20, 'main (/job/a.py:1);count (/job/a.py:8)')
                ) AS e(kind, name, i, ms, period, stack)
                """)).containsExactly(
                        new TopLine("b.py:2 load", "storage", "fetch", 30.0 / 64, 30),
                        new TopLine("a.py:8 count", "on-cpu", null, 20.0 / 64, 20),
                        new TopLine("a.py:1 main", "thread", "futex", 10.0 / 64, 10),
                        new TopLine("a.py:1 main", "asleep", "clock_nanosleep", 4.0 / 64, 4));
    }

    @Test
    void aRecordingWithoutStacksHasNone() {
        assertThat(linesOf("SELECT 'wait' AS kind, 'futex' AS name, 1 AS ts_ns, 5 AS dur_ns, 1 AS pid, 1 AS tid")).isEmpty();
    }

    private List<TopLine> linesOf(String rows) {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), rows);
        try (Database database =
                Recordings.open(List.of(file.toString()), DatabaseOptions.defaults(), SqlLibrary.builtIn())) {
            return TopLine.of(database);
        }
    }
}
