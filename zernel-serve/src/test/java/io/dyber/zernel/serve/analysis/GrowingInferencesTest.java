package io.dyber.zernel.serve.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.DatabaseOptions;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.SqlLibrary;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A recording that grows by a row group before each question. Times are seconds.
final class GrowingInferencesTest {
    private static final String NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    private static final String STEP = "Optimizer.step#AdamW.step";
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    private Path folder;

    private Path live;
    private int group;
    private final List<String> rows = new ArrayList<>();
    private final List<Double> asked = new ArrayList<>();
    private final GrowingInferences growing = new GrowingInferences();

    @BeforeEach
    void makeFolder() throws IOException {
        live = Files.createDirectory(folder.resolve("run.parquet.live"));
    }

    @Test
    void aStepIsToldOnceItsThreadHasAskedForTheNextBatch() {
        step(7, 0, 1);
        assertThat(ask()).isEmpty();
        step(7, 1, 2);
        at(2.4);
        assertThat(ask()).containsExactly("7 0.0-1.0");
        step(7, 2, 3);
        batch(7, 3, 0.3);
        at(4);
        assertThat(ask()).containsExactly("7 1.0-2.0", "7 2.0-3.0");
        assertThat(ask()).isEmpty();
    }

    @Test
    void twoOptimizersWithoutANewBatchBetweenThemAreOneStepAlsoWhenAQuestionComesBetweenThem() {
        batch(7, 0, 0.3);
        event("region", STEP, 7, 0.5, 0.1, "");
        at(2);
        assertThat(ask()).isEmpty();
        event("region", "Optimizer.step#SGD.step", 7, 2.5, 0.5, "");
        batch(7, 3, 0.3);
        at(5);
        assertThat(ask()).containsExactly("7 0.0-3.0");
    }

    @Test
    void whatTheRecorderMayNotHaveWrittenYetIsNotTold() {
        step(7, 0, 1);
        batch(7, 1, 0.3);
        at(1.4);
        assertThat(ask()).isEmpty();
        at(1.6);
        assertThat(ask()).containsExactly("7 0.0-1.0");
    }

    @Test
    void theEndOfTheRecordingSettlesTheLastStep() {
        step(7, 0, 1);
        step(7, 1, 2);
        assertThat(askAtTheEnd()).containsExactly("7 0.0-1.0", "7 1.0-2.0");
        assertThat(askAtTheEnd()).isEmpty();
    }

    @Test
    void onlyTheLastMinuteIsLookedAt() {
        for (int i = 0; i < 100; i++) {
            step(7, i, i + 1);
        }
        at(102);
        assertThat(ask()).hasSize(99);
        step(7, 100, 101);
        step(7, 101, 102);
        batch(7, 102, 0.3);
        at(104);
        assertThat(ask()).containsExactly("7 99.0-100.0", "7 100.0-101.0", "7 101.0-102.0");
        assertThat(asked).containsExactly(Double.NEGATIVE_INFINITY, 41.5);
    }

    @Test
    void aStepThatIsLongerThanTheMinuteBeginsWhereTheOneBeforeEnded() {
        step(7, 0, 1);
        step(7, 1, 2);
        batch(7, 2, 0.3);
        at(150);
        assertThat(ask()).containsExactly("7 0.0-1.0", "7 1.0-2.0");
        event("backward", "Engine::execute", 7, 160, 1, "");
        event("region", STEP, 7, 199, 1, "");
        batch(7, 200, 0.3);
        at(202);
        assertThat(ask()).containsExactly("7 2.0-200.0");
        assertThat(asked).containsExactly(Double.NEGATIVE_INFINITY, 89.5, -8.0);
    }

    @Test
    void theFirstStepOfAThreadBeginsWithItsFirstCallHoweverLongAgo() {
        batch(7, 0, 0.3);
        at(150);
        assertThat(ask()).isEmpty();
        event("backward", "Engine::execute", 7, 190, 5, "");
        event("region", STEP, 7, 199, 1, "");
        batch(7, 200, 0.3);
        at(202);
        assertThat(ask()).containsExactly("7 0.0-200.0");
    }

    @Test
    void aMinuteOfEvaluationIsNoStepForEachBatch() {
        step(7, 0, 1);
        batch(7, 1, 0.3);
        at(2);
        assertThat(ask()).containsExactly("7 0.0-1.0");
        for (int i = 2; i < 150; i++) {
            batch(7, i, 0.3);
        }
        at(152);
        assertThat(ask()).isEmpty();
        for (int i = 152; i < 200; i++) {
            batch(7, i, 0.3);
        }
        at(202);
        assertThat(ask()).isEmpty();
        event("region", STEP, 7, 203, 1, "");
        batch(7, 204, 0.3);
        at(206);
        assertThat(ask()).containsExactly("7 1.0-204.0");
    }

    @Test
    void aFewBatchesAreNotTrainingAndManyAre() {
        for (int i = 0; i < 10; i++) {
            batch(7, i / 10.0, 0.05);
        }
        at(3);
        assertThat(ask()).isEmpty();
        for (int i = 10; i < 50; i++) {
            batch(7, i / 10.0, 0.05);
        }
        at(7);
        assertThat(ask()).hasSize(49);
    }

    @Test
    void aCollectiveIsToldWhenItsLastRankHasCome() {
        nccl(7, 1, 0, 0);
        nccl(8, 1.1, 1, 0);
        nccl(7, 2, 0, 1);
        at(3);
        assertThat(ask()).containsExactlyInAnyOrder("7 late 0.0", "8 late 0.1", "ncclAllReduce skew 0.1");
        nccl(8, 12, 1, 1);
        at(14);
        assertThat(ask()).containsExactlyInAnyOrder("7 late 0.0", "8 late 10.0", "ncclAllReduce skew 10.0");
        assertThat(ask()).isEmpty();
    }

    @Test
    void ofACommunicatorWithSendsNothingIsTold() {
        nccl(7, 1, 0, 0);
        nccl(8, 1.1, 1, 0);
        event("nccl", "ncclSend", 7, 2, 0.1, "comm_id: 99, seq: 1, rank: 0, nranks: 2");
        at(4);
        assertThat(ask()).isEmpty();
    }

    private void step(long pid, double start, double end) {
        batch(pid, start, 0.3);
        event("region", STEP, pid, end - 0.1, 0.1, "");
    }

    private void batch(long pid, double start, double seconds) {
        event("region", NEXT, pid, start, seconds, "");
    }

    private void nccl(long pid, double start, int rank, int number) {
        event("nccl", "ncclAllReduce", pid, start, 0.01, "comm_id: 99, seq: " + number + ", rank: " + rank + ", nranks: 2");
    }

    /// The host is looked at each second.
    private void at(double second) {
        event("host_sample", "cpu_busy", 0, second, 0, "");
    }

    private void event(String kind, String name, long pid, double start, double seconds, String more) {
        rows.add("{kind: '%s', name: '%s', pid: %d, tid: %d, ts_ns: %d, dur_ns: %d%s}".formatted(kind, name, pid, pid,
                Math.round(start * SECOND), Math.round(seconds * SECOND), more.isEmpty() ? "" : ", " + more));
    }

    private List<String> ask() {
        return ask(false);
    }

    private List<String> askAtTheEnd() {
        return ask(true);
    }

    private List<String> ask(boolean ended) {
        write();
        return growing.ask(this::open, ended).stream().map(GrowingInferencesTest::text).toList();
    }

    private void write() {
        if (rows.isEmpty()) {
            return;
        }
        StringBuilder sql = new StringBuilder();
        for (String row : rows) {
            // All have the columns of the first.
            sql.append(sql.isEmpty() ? "SELECT unnest({kind: '', name: '', pid: 0::BIGINT, tid: 0::BIGINT, ts_ns: 0::BIGINT, "
                            + "dur_ns: 0::BIGINT, comm_id: NULL::BIGINT, seq: NULL::BIGINT, rank: NULL::BIGINT, "
                            + "nranks: NULL::BIGINT}) WHERE false" : "");
            sql.append(" UNION ALL BY NAME SELECT unnest(").append(row).append(")");
        }
        WrittenRecording.write(live.resolve("%06d.parquet".formatted(group++)), sql.toString());
        rows.clear();
    }

    private Database open(long fromNanos) {
        asked.add(fromNanos == DatabaseOptions.ALL ? Double.NEGATIVE_INFINITY : fromNanos / 1e9);
        return Recordings.open(
                List.of(live.toString()), DatabaseOptions.defaults().withEventsFrom(fromNanos), SqlLibrary.builtIn());
    }

    private static String text(Inferred what) {
        return switch (what) {
            case Inferred.Step step -> String.format(Locale.ROOT, "%d %.1f-%.1f", step.pid(), step.startNanos() / 1e9, step.endNanos() / 1e9);
            case Inferred.Late late -> String.format(Locale.ROOT, "%d late %.1f", late.pid(), late.lateNanos() / 1e9);
            case Inferred.Skew skew -> String.format(Locale.ROOT, "%s skew %.1f", skew.function(), skew.skewNanos() / 1e9);
        };
    }
}
