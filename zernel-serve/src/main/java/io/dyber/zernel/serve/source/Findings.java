package io.dyber.zernel.serve.source;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.DatabaseOptions;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.RecordingException;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.SqlLibrary;
import io.dyber.zernel.analyze.report.Report;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// What the analyzer finds in the recording that a source hands out: once for a finished one; for one that is still
/// being written again and again, in a small share of the time.
public final class Findings implements AutoCloseable {
    private static final int MOST = 20;
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration FIRST_OF_GROWING = Duration.ofSeconds(10);
    private static final Duration PAUSE_OF_GROWING = Duration.ofSeconds(60);

    /// A growing recording is analyzed at most a twentieth of the time.
    private static final int PAUSES_PER_RUN = 20;

    private static final DatabaseOptions MODEST =
            DatabaseOptions.defaults().withThreads(1).withMemoryLimit("1GB");

    private final EventSource source;
    private final CountDownLatch closed = new CountDownLatch(1);
    private EventSource.@Nullable Recorded analyzed;
    private long dueNanos;
    private volatile Latest latest = new Latest(0, "", "not analyzed", List.of());
    private volatile @Nullable Database open;

    /// The findings as of one moment.
    ///
    /// @param asOfMs when the analysis began, milliseconds since the epoch; 0 before the first
    /// @param recording what was analyzed; all of it, whatever a replay has reached
    /// @param note one line: what they do not cover, or why there are none yet; empty when there is nothing to say
    public record Latest(long asOfMs, String recording, String note, List<Found> findings) {}

    /// One thing to fix, in the words of `zernel-analyze findings`.
    public record Found(
            String name,
            String title,
            String subject,
            String severity,
            @Nullable Double lostMsPerStep,
            @Nullable Double maxSpeedup,
            String evidence,
            String advice,
            String nextCommand) {
        private static Found of(Finding finding) {
            return new Found(finding.name(), finding.title(), finding.subject(), finding.severity(),
                    finding.lostMillisPerStep(), finding.maxSpeedup(), finding.evidence(), finding.advice(),
                    finding.nextCommand());
        }
    }

    public Findings(EventSource source) {
        this.source = source;
    }

    /// Analyzes in a thread of its own until closed.
    public void start() {
        Thread.ofPlatform().daemon().name("zernel-findings").start(this::run);
    }

    public Latest latest() {
        return latest;
    }

    private void run() {
        dueNanos = System.nanoTime();
        try {
            do {
                source.recorded().filter(this::isDue).ifPresent(this::analyze);
            } while (!closed.await(LOOK.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isDue(EventSource.Recorded recorded) {
        if (!recorded.equals(analyzed)) {
            analyzed = recorded;
            dueNanos = System.nanoTime() + (recorded.growing() ? FIRST_OF_GROWING.toNanos() : 0);
        }
        return System.nanoTime() - dueNanos >= 0;
    }

    private void analyze(EventSource.Recorded recorded) {
        long began = System.currentTimeMillis();
        long start = System.nanoTime();
        String path = recorded.path().toString();
        try (Database database = Recordings.open(List.of(path), MODEST, SqlLibrary.builtIn())) {
            open = database;
            if (closed.getCount() > 0) {
                Diagnosis diagnosis = Report.diagnose(database);
                latest = new Latest(began, path, diagnosis.skippedText(),
                        diagnosis.findings().stream().limit(MOST).map(Found::of).toList());
            }
        } catch (RecordingException e) {
            latest = new Latest(began, path, String.valueOf(e.getMessage()), latest.findings());
        } finally {
            open = null;
        }
        long took = System.nanoTime() - start;
        dueNanos = recorded.growing()
                ? System.nanoTime() + Math.max(PAUSE_OF_GROWING.toNanos(), PAUSES_PER_RUN * took)
                : System.nanoTime() + Long.MAX_VALUE / 2;
    }

    @Override
    public void close() {
        closed.countDown();
        Optional.ofNullable(open).ifPresent(Database::cancel);
    }
}
