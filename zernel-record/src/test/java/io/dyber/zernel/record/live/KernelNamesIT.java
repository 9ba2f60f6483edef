package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Kernels whose names the probe of the call that says them cannot read: a probe brings no page into memory, and has room for
/// 191 bytes.
class KernelNamesIT {
    private static final String LONG_NAME = "ab".repeat(100);

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    @Test
    void namesAreReadLaterOfTheProcessWhereTheProbeCannotReadThem() {
        Recorder recorder =
                Recorder.recordTo(directory.resolve("run.parquet"), "--kinds", "cuda_launch", "--detail", "all");
        try (Recording recording =
                StandIns.record(directory, recorder, List.of(), List.of("libcuda.so.1"), "names", List.of()).recording()) {
            Map<Long, String> later = recording.footer("zernel.kernels").valueStream()
                    .collect(Collectors.toMap(
                            (JsonNode one) -> one.path("func").asLong(), one -> one.path("kernel").asString()));
            assertThat(recording.rows("""
                    SELECT coalesce(max(kernel), CAST(func AS VARCHAR)) FROM events WHERE kind = 'cuda_launch'
                    GROUP BY func ORDER BY min(ts_ns)
                    """).stream().map(name -> name.matches("[0-9]+") ? later.get(Long.parseLong(name)) : name))
                    .containsExactly(
                            "cold(float*)",
                            "colder(float*)",
                            LONG_NAME + "lng(float*)",
                            "warm(float*)",
                            LONG_NAME.substring(0, 191) + "...");
        }
    }
}
