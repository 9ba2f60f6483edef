package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.serve.source.EventSource;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Asks the analyzer about the recording that a source hands out, in a thread of its own: what is to be inferred, and
/// what it finds. A finished recording is asked once; one that is still being written again and again, in a small share
/// of the time.
public final class Analysis implements AutoCloseable {
    private static final Duration LOOK = Duration.ofMillis(200);
    private static final Duration FIRST_FINDINGS = Duration.ofSeconds(10);
    private static final Duration PAUSE_OF_FINDINGS = Duration.ofSeconds(60);
    private static final Duration PAUSE_OF_INFERENCE = Duration.ofSeconds(2);

    /// Of a growing recording, findings take at most a twentieth of the time.
    private static final int PAUSES_OF_FINDINGS = 20;
    /// And what is inferred a tenth of a CPU.
    private static final int PAUSES_OF_INFERENCE = 9;
    /// A recorder that begins has saved nothing yet, and one that ends moves its files.
    private static final int TRIES = 3;

    private static final long NEVER_NANOS = Long.MAX_VALUE / 2;

    private static final DatabaseOptions MODEST =
            DatabaseOptions.defaults().withThreads(1).withMemoryLimit("1GB");
    private static final DatabaseOptions QUICK =
            MODEST.withThreads(Math.min(4, DatabaseOptions.defaults().threads()));

    private final EventSource source;
    private final boolean withFindings;
    private final boolean finished;
    private final Inferences inferences;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch settled = new CountDownLatch(1);
    private final Semaphore news = new Semaphore(0);
    private volatile Findings findings = Findings.NONE;
    private volatile String note = "";
    private volatile @Nullable Database open;
    private volatile boolean sourceEnded;
    private volatile boolean findsInGrowing;
    private volatile boolean interrupted;
    private volatile @Nullable Thread thread;
    private EventSource.@Nullable Recorded current;
    private @Nullable EventSource currentFrom;
    private @Nullable GrowingInferences growing;
    private int failures;
    private long inferenceDueNanos;
    private long findingsDueNanos;

    /// @param withFindings also look for what is to be fixed
    public Analysis(EventSource source, boolean withFindings) {
        this.source = source;
        this.withFindings = withFindings;
        this.finished = source.recorded().filter(recorded -> !recorded.growing()).isPresent();
        this.inferences = new Inferences(finished);
    }

    /// Asks until closed.
    public void start() {
        thread = Thread.ofPlatform().daemon().name("zernel-analysis").start(this::run);
    }

    /// Whether it still asks, as it does from its start until it is closed.
    public boolean works() {
        Thread started = thread;
        return started == null || started.isAlive();
    }

    public Inferences inferences() {
        return inferences;
    }

    public Findings findings() {
        return findings;
    }

    /// Why something could not be inferred; empty where all was.
    public String note() {
        return note;
    }

    /// Waits until all is inferred of a recording that is finished, so that a replay at any speed has it in time; of one
    /// that grows, for nothing.
    public void awaitBegin() throws InterruptedException {
        if (finished) {
            begun.await();
        }
    }

    /// The source has ended: waits until all is inferred of what it handed out.
    public void awaitEnd() throws InterruptedException {
        awaitBegin();
        if (!finished) {
            sourceEnded = true;
            news.release();
            while (!settled.await(LOOK.toMillis() / 10, TimeUnit.MILLISECONDS)) {
                interruptFindings();
            }
        }
    }

    @Override
    public void close() {
        closed.countDown();
        begun.countDown();
        settled.countDown();
        news.release();
        cancel();
    }

    /// Findings may take long, and those of the finished recording follow. A statement is interrupted, not all of them.
    private void interruptFindings() {
        if (findsInGrowing) {
            interrupted = true;
            cancel();
        }
    }

    private void cancel() {
        Optional.ofNullable(open).ifPresent(Database::cancel);
    }

    private void run() {
        try {
            while (closed.getCount() > 0) {
                boolean ended = sourceEnded;
                infer(source.current().orElse(null), ended);
                begun.countDown();
                if (ended) {
                    settled.countDown();
                }
                if (current != null && withFindings && System.nanoTime() - findingsDueNanos >= 0) {
                    find(current);
                }
                boolean _ = news.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            begun.countDown();
            settled.countDown();
        }
    }

    private void infer(@Nullable EventSource from, boolean ended) {
        EventSource.Recorded before = current;
        EventSource.Recorded recorded = from == null ? null : from.recorded().orElse(null);
        if (before != null && (!Objects.equals(from, currentFrom) || !before.equals(recorded))) {
            settle(before);
            current = null;
        }
        currentFrom = from;
        if (recorded != null && current == null) {
            begin(recorded, before);
        } else if (growing != null && before != null && System.nanoTime() - inferenceDueNanos >= 0) {
            inferGrowing(growing, before.path(), false);
        }
        if (ended && current != null) {
            settle(current);
        }
    }

    /// A recording that grew grows no more. Of a series, whose last file has a name of its own, the last steps stay untold.
    private void settle(EventSource.Recorded recorded) {
        LiveFolder folder = LiveFolder.of(recorded.path());
        Path left = folder.isAbandoned() ? folder.path() : folder.output();
        if (growing != null && Files.exists(left)) {
            inferGrowing(growing, left, true);
        }
        growing = null;
    }

    private void begin(EventSource.Recorded recorded, EventSource.@Nullable Recorded before) {
        current = recorded;
        findingsDueNanos = System.nanoTime() + (recorded.growing() ? FIRST_FINDINGS.toNanos() : 0);
        if (recorded.growing()) {
            growing = new GrowingInferences();
            inferGrowing(growing, recorded.path(), false);
        } else if (before == null || !before.growing() || !LiveFolder.of(before.path()).output().equals(recorded.path())) {
            inferAll(recorded);
        }
    }

    private void inferGrowing(GrowingInferences inference, Path path, boolean ended) {
        long start = cpuNanos();
        long eventNanos = source.nowNanos();
        try {
            inferences.add(inference.ask(from -> open(path, MODEST.withEventsFrom(from)), ended));
            inferences.knownUntil(ended ? Long.MAX_VALUE : eventNanos);
            failures = 0;
            note = "";
        } catch (RecordingException e) {
            failures++;
            if (failures >= TRIES || ended) {
                note = (ended ? "the last steps" : "steps") + " are not known: " + e.getMessage();
            }
        } finally {
            open = null;
        }
        long took = cpuNanos() - start;
        inferenceDueNanos = System.nanoTime() + Math.max(PAUSE_OF_INFERENCE.toNanos(), PAUSES_OF_INFERENCE * took);
    }

    /// Of this thread, in which DuckDB runs where it may have one.
    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /// The findings of a finished recording read the tables that this leaves.
    private void inferAll(EventSource.Recorded recorded) {
        try (Database database = open(recorded.path(), QUICK)) {
            inferAll(database, recorded);
            begun.countDown();
            if (withFindings) {
                find(database, recorded);
            }
        } catch (RecordingException e) {
            note = "steps are not known: " + e.getMessage();
        } finally {
            open = null;
        }
    }

    private void inferAll(Database database, EventSource.Recorded recorded) {
        try {
            List<Inferred> all = InferenceQuery.steps(database, recorded.untilNanos());
            all.addAll(InferenceQuery.arrivals(database, recorded.untilNanos()));
            all.sort(Comparator.comparingLong(Inferred::atNanos));
            inferences.add(all);
            note = "";
        } catch (RecordingException e) {
            note = "steps are not known: " + e.getMessage();
        } finally {
            inferences.knownUntil(Long.MAX_VALUE);
        }
    }

    private void find(EventSource.Recorded recorded) {
        findsInGrowing = recorded.growing() && !sourceEnded;
        long start = System.nanoTime();
        try (Database database = open(recorded.path(), MODEST)) {
            find(database, recorded);
        } catch (RecordingException e) {
            fail(recorded, e);
        } finally {
            findsInGrowing = false;
            open = null;
        }
        long took = interrupted ? 0 : System.nanoTime() - start;
        interrupted = false;
        findingsDueNanos = System.nanoTime()
                + (recorded.growing() ? Math.max(PAUSE_OF_FINDINGS.toNanos(), PAUSES_OF_FINDINGS * took) : NEVER_NANOS);
    }

    private void find(Database database, EventSource.Recorded recorded) {
        findingsDueNanos = System.nanoTime() + NEVER_NANOS;
        if (closed.getCount() == 0) {
            return;
        }
        try {
            Findings found = Findings.of(database, recorded.path().toString());
            findings = interrupted ? findings : found;
        } catch (RecordingException e) {
            fail(recorded, e);
        }
    }

    private void fail(EventSource.Recorded recorded, RecordingException why) {
        findings = findings.butNot(recorded.path().toString(), String.valueOf(why.getMessage()));
    }

    private Database open(Path path, DatabaseOptions options) {
        Database database = Recordings.open(List.of(path.toString()), options, SqlLibrary.builtIn());
        open = database;
        return database;
    }
}
