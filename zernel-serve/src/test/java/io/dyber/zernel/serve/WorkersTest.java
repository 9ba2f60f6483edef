package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.Facts;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// Whose series hold what DataLoader workers do.
final class WorkersTest {
    private static final String WORKER = "pt_data_worker";
    private static final long START = EveryKind.START;
    private static final long MS = 1_000_000;

    private LiveMetrics live = metrics(SeriesPolicy.of(3));

    private static LiveMetrics metrics(SeriesPolicy policy) {
        return new LiveMetrics(policy, new Inferences(true), _ -> {});
    }

    private static Events forked(int worker) {
        return new Events().add("process", "fork", 1, START, 0).with(LongColumn.CHILD_PID, worker);
    }

    private static Events read(Events events, long pid, String comm) {
        return events.add("io", "read", pid, START + MS, 2 * MS).with(LongColumn.BYTES, 1000).with(TextColumn.COMM, comm);
    }

    /// Worker 11 ends, and so does its main thread.
    private static Events exit(Events events) {
        return events.add("process", "exit", 11, START + 10 * MS, 0).with(TextColumn.COMM, WORKER);
    }

    @Test
    void whatAWorkerReadsCountsForTheProcessThatForkedIt() {
        live.apply(read(read(forked(11), 1, "python3"), 11, WORKER).batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("1", 2000.0));
        assertThat(counts(Metrics.IO)).isEqualTo(Map.of("1", 2L));
    }

    @Test
    void whatItDidBeforeItWasNamedCountsToo() {
        live.apply(read(forked(11), 11, "python3").batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("11", 1000.0));
        live.apply(read(new Events(), 11, WORKER).batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("1", 2000.0));
        assertThat(counts(Metrics.IO)).isEqualTo(Map.of("1", 2L));
    }

    @Test
    void aWorkerThatRanBeforeTheRecordingIsKnownByItsParent() {
        live.apply(read(new Events(), 11, WORKER).batch());
        live.facts(() -> facts("""
                [{"pid": 1, "ppid": 0, "comm": "python3"}, {"pid": 11, "ppid": 4242, "comm": "pt_data_worker"}]"""));
        live.apply(read(new Events(), 11, WORKER).batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("4242", 2000.0));
    }

    @Test
    void inALaterRoundOfAReplayToo() {
        live.facts(() -> facts("[{\"pid\": 11, \"ppid\": 4242, \"comm\": \"pt_data_worker\"}]"));
        live.apply(read(new Events(), 11, WORKER).add("process", "exit", 11, START + 10 * MS, 0).batch());
        live.apply(read(new Events(), 11, WORKER).batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("4242", 2000.0));
    }

    @Test
    void aWorkerWhoseParentNobodySaidStaysApart() {
        live.apply(read(new Events(), 11, WORKER).batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("11", 1000.0));
    }

    @Test
    void otherChildrenStayApart() {
        live.apply(read(forked(12), 12, "ffmpeg").batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("12", 1000.0));
    }

    @Test
    void aProcessThatGetsTheNumberOfAWorkerIsNoWorker() {
        live.apply(exit(read(forked(11), 11, WORKER)).batch());
        live.apply(read(new Events(), 11, "ffmpeg").batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("1", 1000.0, "11", 1000.0));
    }

    @Test
    void norWhereTheRecordingSaysWhoItWas() {
        String worker = "{\"pid\": 11, \"ppid\": 4242, \"comm\": \"pt_data_worker\"}";
        live.facts(() -> facts("[" + worker + "]"));
        live.apply(exit(read(new Events(), 11, WORKER)).batch());
        live.facts(() -> facts("[" + worker + ", {\"pid\": 12, \"ppid\": 4242, \"comm\": \"pt_data_worker\"}]"));
        live.apply(read(read(new Events(), 11, "ffmpeg"), 12, WORKER).batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("4242", 2000.0, "11", 1000.0));
    }

    @Test
    void aWorkerIsKnownHoweverManyProcessesHadNamesBefore() {
        Events events = forked(11);
        for (int pid = 100; pid < 10_100; pid++) {
            events.add("mark", "begin", pid, START, MS).with(TextColumn.COMM, "sh");
        }
        live.apply(read(read(events, 11, WORKER), 1, "python3").batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("1", 2000.0));
    }

    @Test
    void theNamesOfTheLatestProcessesAreKnown() {
        Events events = read(new Events(), 1, "python3");
        for (int pid = 100; pid < 10_100; pid++) {
            events.add("mark", "begin", pid, START, MS).with(TextColumn.COMM, "sh");
        }
        live.apply(read(read(events, 1, "renamed"), 2, "late").batch());
        live.read(START, false, view -> assertThat(List.of(view.comm(1), view.comm(2))).containsExactly("renamed", "late"));
    }

    @Test
    void whatIsSampledOfAWorkerIsItsOwn() {
        live.apply(read(forked(11), 11, WORKER)
                .add("gpu_process", "memory_used", 11, START, 0)
                .with(LongColumn.VALUE, 7000)
                .add("gpu_process", "memory_used", 1, START, 0)
                .with(LongColumn.VALUE, 500)
                .batch());
        assertThat(numbers(Metrics.GPU_PROCESS_MEMORY)).isEqualTo(Map.of("11 0", 7000.0, "1 0", 500.0));
    }

    @Test
    void manyWorkersTakeNobodysSeries() {
        Events events = new Events();
        for (int worker = 100; worker < 150; worker++) {
            events.add("process", "fork", 1, START, 0).with(LongColumn.CHILD_PID, worker);
            read(events, worker, WORKER);
        }
        live.apply(read(read(events, 2, "python3"), 3, "python3").batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("1", 50_000.0, "2", 1000.0, "3", 1000.0));
    }

    @Test
    void theyHaveSeriesOfTheirOwnWhereThatIsAskedFor() {
        live = metrics(SeriesPolicy.of(3).withWorkersApart());
        live.apply(read(read(forked(11), 1, "python3"), 11, WORKER).batch());
        assertThat(numbers(Metrics.IO_BYTES)).isEqualTo(Map.of("1", 1000.0, "11", 1000.0));
    }

    private static Facts facts(String processes) {
        return Facts.of(Map.of(Footer.PROCESSES, processes));
    }

    private Map<String, Double> numbers(Metric metric) {
        Map<String, Double> values = new TreeMap<>();
        live.read(START, false, view -> view.numbers(metric, (labels, value) -> values.put(String.join(" ", labels), value)));
        return values;
    }

    private Map<String, Long> counts(Metric metric) {
        AtomicReference<Map<String, Long>> counts = new AtomicReference<>(new TreeMap<>());
        live.read(START, false, view -> view.series().durations(metric).forEach(
                (labels, durations) -> counts.get().put(String.join(" ", labels), durations.count())));
        return counts.get();
    }
}
