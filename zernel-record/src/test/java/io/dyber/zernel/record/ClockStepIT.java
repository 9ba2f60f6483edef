package io.dyber.zernel.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.option.Progress;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.RecordResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The machine's clocks jump in the middle of a recording; in the eyes of the recorder only.
class ClockStepIT {
    private static final int REALTIME = 0;
    private static final int BOOTTIME = 7;
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    private Path folder = Path.of("");

    private final List<String> notices = new ArrayList<>();
    private volatile boolean running;

    @Test
    void aStepOfTheWallClockAndASleepAreSaidAndMoveNoEvent() throws IOException, SQLException {
        assumeThat(Files.getAttribute(Path.of("/proc/self"), "unix:uid")).as("needs root").isEqualTo(0);
        assumeThat(Path.of("/sys/kernel/btf/vmlinux")).as("needs a kernel with BTF").isReadable();
        Path file = folder.resolve("run.parquet");
        long jumpAt = Clock.monotonicNanos();
        Recorder recorder = new Recorder(
                RecordOptions.to(file).running(List.of("sh", "-c", "sleep 3; exec true")),
                new Listener(),
                clock -> Clock.Source.MACHINE.nanos(clock) + (running ? jump(clock) : 0));
        long began = System.currentTimeMillis() * 1_000_000;
        RecordResult result = recorder.record();

        assertThat(result.incompleteBecause()).isEmpty();
        assertThat(notices)
                .contains("the machine slept for 60.0 s; the times in the recording leave that out")
                .contains("the time of day was set by -3600.0 s; the recording goes on by that of its start");
        JsonNode clock = footer(file, "zernel.clock");
        assertThat(clock.path("wall_step_ns").asLong()).isBetween(-3601 * SECOND, -3599 * SECOND);
        assertThat(clock.path("asleep_ns").asLong()).isBetween(59 * SECOND, 61 * SECOND);
        assertThat(jumpAt + clock.path("offset_ns").asLong()).isBetween(began - 20 * SECOND, began);
        assertThat(query("SELECT count(*), count(*) FILTER (ts_ns NOT BETWEEN " + (began - SECOND) + " AND "
                        + (System.currentTimeMillis() * 1_000_000) + ") FROM '" + file + "' WHERE kind = 'process'"))
                .matches("\\d+ 0");
    }

    /// An hour back, and a minute of sleep, in which the time of day goes on.
    private static long jump(int clock) {
        return switch (clock) {
            case REALTIME -> -3600 * SECOND + 60 * SECOND;
            case BOOTTIME -> 60 * SECOND;
            default -> 0;
        };
    }

    private static JsonNode footer(Path file, String key) throws SQLException {
        return JsonMapper.shared()
                .readTree(query("SELECT decode(value) FROM parquet_kv_metadata('" + file + "') WHERE decode(key) = '"
                        + key + "'"));
    }

    private static String query(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            assertThat(result.next()).isTrue();
            return result.getMetaData().getColumnCount() == 1
                    ? result.getString(1)
                    : result.getString(1) + " " + result.getString(2);
        }
    }

    /// The jump comes when the recording has begun.
    private final class Listener implements Progress {
        @Override
        public void started(Started started) {
            running = true;
        }

        @Override
        public void going(Status status) {}

        @Override
        public void notice(String line) {
            notices.add(line);
        }
    }
}
