package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.LongColumn;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// What is left of processes that have ended, where there is room for the series of one.
final class EndedProcessesTest {
    private static final long START = EveryKind.START;
    private static final long SECOND = 1_000_000_000L;
    private static final long GIB = 1L << 30;

    private final LiveMetrics live = new LiveMetrics(SeriesPolicy.of(1), new Inferences(true), _ -> {});
    private final Events events = new Events();
    private long nowNanos = START;

    @Test
    void aProcessThatHasEndedGivesItsSeriesToTheNext() {
        read(1, 1000);
        exit(1);
        read(2, 10);
        live.apply(events.batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of(List.of("other"), 1000.0, List.of("2"), 10.0));
    }

    @Test
    void aProcessThatRunsKeepsItsSeries() {
        read(1, 1000);
        read(2, 10);
        exit(2);
        live.apply(events.batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of(List.of("1"), 1000.0, List.of("other"), 10.0));
    }

    @Test
    void whoGetsTheNumberOfAProcessThatHasEndedKeepsItsSeriesToo() {
        read(1, 10);
        exit(1);
        nowNanos += 60 * SECOND;
        read(1, 1000);
        read(2, 10);
        live.apply(events.batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of(List.of("1"), 1010.0, List.of("other"), 10.0));
    }

    @Test
    void theMemoryOfProcessesThatHaveEndedDoesNotAddUp() {
        read(9, 1000);
        for (int pid = 1; pid <= 3; pid++) {
            allocate(pid, 70 * GIB);
            exit(pid);
        }
        allocate(4, 10 * GIB);
        live.apply(events.batch());
        assertThat(numbers(Metrics.GPU_MEMORY_USED)).isEqualTo(Map.of(List.of("other", "0"), 10.0 * GIB));
        assertThat(numbers(Metrics.GPU_MEMORY_PEAK)).isEqualTo(Map.of(List.of("other", "0"), 10.0 * GIB));
        AtomicInteger places = new AtomicInteger();
        live.read(nowNanos, false, view -> view.gpuMemory().forEach((_, _) -> places.incrementAndGet()));
        assertThat(places).hasValue(1);
    }

    @Test
    void thePeakOfAProcessWithSeriesOfItsOwnStaysUntilAnotherGetsItsNumber() {
        read(1, 1000);
        allocate(1, 70 * GIB);
        exit(1);
        live.apply(events.batch());
        assertThat(numbers(Metrics.GPU_MEMORY_PEAK)).isEqualTo(Map.of(List.of("1", "0"), 70.0 * GIB));
        Events later = new Events();
        add(later, 1, 10 * GIB);
        live.apply(later.batch());
        assertThat(numbers(Metrics.GPU_MEMORY_PEAK)).isEqualTo(Map.of(List.of("1", "0"), 10.0 * GIB));
    }

    @Test
    void whatWasSampledOfProcessesThatHaveEndedDoesNotAddUp() {
        for (int pid = 1; pid <= 3; pid++) {
            read(pid, 1);
            sample(pid, 7 * GIB);
            exit(pid);
        }
        read(4, 1);
        live.apply(events.batch());
        assertThat(numbers(Metrics.GPU_PROCESS_MEMORY)).isEmpty();
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of(List.of("other"), 3.0, List.of("4"), 1.0));
    }

    @Test
    void whatIsSampledOfProcessesWithoutSeriesOfTheirOwnIsNotShown() {
        read(1, 1000);
        sample(1, 7 * GIB);
        sample(2, 9 * GIB);
        live.apply(events.batch());
        assertThat(numbers(Metrics.GPU_PROCESS_MEMORY)).isEqualTo(Map.of(List.of("1", "0"), 7.0 * GIB));
    }

    private void sample(long pid, long bytes) {
        events.add("gpu_process", "memory_used", pid, ++nowNanos, 0).with(LongColumn.VALUE, bytes);
    }

    /// So many reads of one byte each.
    private void read(long pid, int count) {
        for (int i = 0; i < count; i++) {
            events.add("io", "read", pid, ++nowNanos, 1).with(LongColumn.BYTES, 1);
        }
    }

    private void exit(long pid) {
        events.add("process", "exit", pid, ++nowNanos, 0).with(LongColumn.TID, pid + 7); // its last thread
    }

    private void allocate(long pid, long bytes) {
        add(events, pid, bytes);
    }

    private void add(Events to, long pid, long bytes) {
        to.add("gpu_alloc", "cuMemAlloc_v2", pid, ++nowNanos, 1)
                .with(LongColumn.BYTES, bytes)
                .with(LongColumn.ADDR, 1);
    }

    private Map<List<String>, Double> numbers(Metric metric) {
        Map<List<String>, Double> numbers = new HashMap<>();
        live.read(nowNanos, false, view -> view.series().numbers(metric).forEach((labels, sum) -> numbers.put(labels, sum.value())));
        return numbers;
    }
}
