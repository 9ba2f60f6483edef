package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class LoopedCounterTest {
    @TempDir
    private Path folder;

    @Test
    void whatADeviceCountsGoesOnWhereTheRoundBeforeEnded() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'gpu_sample' AS kind, 'energy' AS name, 1700000000000000000 + i * 1000000000 AS ts_ns,
                       5000000 + i * 300000 AS value, 0 AS device, 0 AS tid
                FROM range(4) AS r(i)
                """);
        LiveMetrics live = new LiveMetrics(10, new Inferences(true), _ -> {});
        List<Double> joules = new ArrayList<>();
        try (Replay replay = new Replay(file, new Replay.Options(Speed.MAX, true, Optional.empty(), Optional.empty()))) {
            for (int rows = 0; rows < 12; ) {
                EventBatch batch = replay.next().orElseThrow();
                live.apply(batch);
                rows += batch.rows();
                live.read(replay.nowNanos(), false, view -> view.numbers(Metrics.GPU_ENERGY, (_, value) -> joules.add(value)));
            }
        }
        assertThat(joules).isSorted().first().isEqualTo(5000.0);
        assertThat(joules.getLast()).isEqualTo(5000 + 3 * 900.0);
    }
}
