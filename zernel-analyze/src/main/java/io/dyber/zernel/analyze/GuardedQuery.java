package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.SelectOnly;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.format.RecordingException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// Runs queries of somebody who may read the recordings and do nothing else: one SELECT each, in a transaction that cannot
/// write, for a limited time and a limited number of rows.
///
/// @param database opened by [Recordings#openConfined], which keeps queries from other files
/// @param mostTime for the query itself; what the library keeps of views that it is the first to read is made before
public record GuardedQuery(Database database, Duration mostTime) {
    /// How often a query that is late is told to end: at once it may not have begun.
    private static final long AGAIN_MILLIS = 100;

    /// The first rows of the result.
    ///
    /// @throws RecordingException if it is not one SELECT, takes too long, or DuckDB refuses it
    public Table head(int most, String sql) {
        DuckDb duckDb = database.duckDb();
        Optional<String> refusal = SelectOnly.refusal(sql, duckDb);
        if (refusal.isPresent()) {
            throw new RecordingException(
                    "running a query: " + refusal.get(), "one SELECT of views or events, e.g. FROM steps LIMIT 10");
        }
        database.prepare(sql);
        duckDb.execute("BEGIN TRANSACTION READ ONLY");
        try {
            return inTime(most, sql);
        } finally {
            duckDb.execute("ROLLBACK");
        }
    }

    private Table inTime(int most, String sql) {
        AtomicBoolean late = new AtomicBoolean();
        Thread watch = Thread.ofPlatform().daemon().name("zernel-query-time").start(() -> end(late));
        try {
            return database.head(most, sql);
        } catch (RecordingException e) {
            throw late.get()
                    ? new RecordingException(
                            "running a query: it took longer than " + mostTime.toSeconds() + " s",
                            "select fewer steps, processes or kinds of events; LIMIT does not help what sorts or joins all",
                            e)
                    : e;
        } finally {
            stop(watch);
        }
    }

    /// So that it ends no later query.
    private static void stop(Thread watch) {
        watch.interrupt();
        try {
            watch.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// Ends the query when its time is over.
    private void end(AtomicBoolean late) {
        try {
            Thread.sleep(mostTime);
            late.set(true);
            while (true) {
                database.cancel();
                Thread.sleep(AGAIN_MILLIS);
            }
        } catch (InterruptedException _) {
            // The query is done.
        }
    }
}
