package io.dyber.zernel.serve.fleet;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.report.data.Fleet;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.fleet.FleetWindow.Held;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Takes the digests that arrive in a folder and asks the analyzer about the newest of all machines, in a thread of its own:
/// when all that send have sent a new one, or two seconds after the first that did; at most every five seconds, and half of
/// the time.
public final class FleetAnalysis implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(FleetAnalysis.class.getName());
    private static final DatabaseOptions MODEST = DatabaseOptions.defaults()
            .withThreads(Math.min(4, DatabaseOptions.defaults().threads()))
            .withMemoryLimit("1GB");

    private final DigestFolder folder;
    private final Pace pace;
    private final Runnable second;
    private final FleetWindow window = new FleetWindow();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Map<FleetWindow.Sender, Long> evaluated = new HashMap<>();
    private final Map<FleetWindow.Sender, Long> counted = new HashMap<>();
    private Map<List<String>, Integer> rounds = new HashMap<>();
    private volatile Arrivals arrivals;
    private volatile FleetState state = FleetState.NONE;
    private volatile @Nullable Database open;
    private volatile @Nullable Thread thread;
    private long newsNanos;
    private boolean news;
    private long done;
    private long failed;

    /// How often there is a look.
    ///
    /// @param poll at the folder
    /// @param patience how long machines are waited for that have not sent yet
    /// @param pause from one evaluation to the next at least
    public record Pace(Duration poll, Duration patience, Duration pause) {
        /// As documented.
        public static final Pace USUAL = new Pace(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(5));
    }

    /// What has arrived, for readers.
    ///
    /// @param newestMs when the newest digest came, since the epoch; 0 before the first
    /// @param oldestMs when that of the machine came that sent least recently, of those that are evaluated
    /// @param fates how many came, by what became of them
    /// @param troubles the latest that were left out
    public record Arrivals(
            String folder,
            List<Machine> machines,
            long newestMs,
            long oldestMs,
            Map<String, Long> fates,
            List<Left> troubles,
            long done,
            long failed) {
        /// Those of a state.
        public long count(String machineState) {
            return machines.stream().filter(machine -> machine.state().equals(machineState)).count();
        }
    }

    /// A machine's recorder.
    ///
    /// @param state sending or silent
    /// @param arrivedMs when its newest digest came, since the epoch
    /// @param fromMs the time that this is of, by the machine's own clock
    /// @param toMs the end of that
    public record Machine(String host, String recorder, String digest, String state, long arrivedMs, long fromMs, long toMs) {}

    /// A file that was left out.
    public record Left(String name, String fate, String why, long atMs) {}

    /// @param second called about once a second by the thread that asks
    /// @throws RecordingException if there is no such folder
    public FleetAnalysis(Path folder, Pace pace, Runnable second) {
        this.folder = new DigestFolder(folder);
        this.pace = pace;
        this.second = second;
        this.arrivals = arrived();
    }

    /// Asks until closed.
    public void start() {
        thread = Thread.ofPlatform().daemon().name("zernel-fleet").start(this::run);
    }

    /// Whether it still asks, as it does from its start until it is closed.
    public boolean works() {
        Thread started = thread;
        return started == null || started.isAlive();
    }

    public FleetState state() {
        return state;
    }

    public Arrivals arrivals() {
        return arrivals;
    }

    @Override
    public void close() {
        closed.countDown();
        Database asked = open;
        if (asked != null) {
            asked.cancel();
        }
        Thread started = thread;
        if (started != null) {
            try {
                started.join(Duration.ofSeconds(5));
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
        folder.close();
    }

    private void run() {
        long due = System.nanoTime();
        try {
            do {
                if (folder.scan(window) > 0 && !news) {
                    news = true;
                    newsNanos = System.nanoTime();
                }
                window.forget().forEach(held -> folder.delete(held.file()));
                arrivals = arrived();
                if (news && System.nanoTime() >= due && isComplete()) {
                    long began = System.nanoTime();
                    evaluate();
                    long took = System.nanoTime() - began;
                    due = System.nanoTime() + Math.max(pace.pause().toNanos() - took, took);
                    arrivals = arrived();
                }
                second.run();
            } while (!closed.await(pace.poll().toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// Whether nobody is to be waited for.
    private boolean isComplete() {
        return System.nanoTime() - newsNanos >= pace.patience().toNanos()
                || window.sending().stream().allMatch(held -> isNew(held, evaluated));
    }

    private static boolean isNew(Held held, Map<FleetWindow.Sender, Long> than) {
        return held.endedNanos() > than.getOrDefault(held.sender(), Long.MIN_VALUE);
    }

    private void evaluate() {
        news = false;
        List<Held> sending = window.sending();
        if (sending.isEmpty()) {
            return;
        }
        long asOfMs = System.currentTimeMillis();
        long began = System.nanoTime();
        try (Database database = open(sending)) {
            Fleet fleet = Fleet.of(database, (_, _) -> {});
            if (!fleet.report().diagnosis().skipped().isEmpty() && folder.removeDamaged(window)) {
                news = true; // a finding that failed at one file would be missing for all
                return;
            }
            remember(sending, evaluated);
            Findings findings = Findings.of(fleet.report().diagnosis(), asOfMs, folder.path().toString(), List.of())
                    .commands(folder::withoutCopies);
            state = FleetState.of(fleet, findings, rounds(findings, sending), (System.nanoTime() - began) / 1e9);
            done++;
        } catch (RecordingException e) {
            if (closed.getCount() == 0) {
                return;
            }
            failed++;
            news = folder.removeDamaged(window);
            state = state.butNot(String.valueOf(e.getMessage()));
            LOG.log(Level.WARNING, "evaluating digests: {0}", e.getMessage());
        } finally {
            open = null;
        }
    }

    private Database open(List<Held> sending) {
        List<String> files = sending.stream().map(held -> held.file().toString()).toList();
        Database database = Recordings.open(files, MODEST, SqlLibrary.builtIn());
        open = database;
        return database;
    }

    private static void remember(List<Held> digests, Map<FleetWindow.Sender, Long> in) {
        in.clear();
        digests.forEach(held -> in.put(held.sender(), held.endedNanos()));
    }

    /// Counts a round when at least half of the machines have sent a new digest since the last one that was counted.
    private List<Integer> rounds(Findings findings, List<Held> sending) {
        long fresh = sending.stream().filter(held -> isNew(held, counted)).count();
        boolean isRound = 2 * fresh >= sending.size();
        Map<List<String>, Integer> now = new HashMap<>();
        List<Integer> ofEach = new ArrayList<>();
        for (Findings.Found found : findings.findings()) {
            List<String> key = List.of(found.name(), found.subject());
            int before = rounds.getOrDefault(key, 0);
            now.put(key, before == 0 ? 1 : before + (isRound ? 1 : 0));
            ofEach.add(now.getOrDefault(key, 1));
        }
        rounds = now;
        if (isRound) {
            remember(sending, counted);
        }
        return List.copyOf(ofEach);
    }

    private Arrivals arrived() {
        List<Machine> machines = new ArrayList<>();
        List<Held> sending = window.sending();
        sending.forEach(held -> machines.add(machine(held, "sending")));
        window.silent().forEach(held -> machines.add(machine(held, "silent")));
        Map<String, Long> fates = new HashMap<>();
        window.fates().forEach((fate, times) -> fates.put(fate.label(), times));
        return new Arrivals(
                folder.path().toString(),
                List.copyOf(machines),
                window.newestMs(),
                sending.stream().mapToLong(Held::arrivedMs).min().orElse(0),
                Map.copyOf(fates),
                folder.troubles().stream().map(one -> new Left(one.name(), one.fate(), one.why(), one.atMs())).toList(),
                done,
                failed);
    }

    private static Machine machine(Held held, String state) {
        return new Machine(
                held.sender().host(), held.sender().recorder(), held.name(), state, held.arrivedMs(), held.startedNanos() / 1_000_000,
                held.endedNanos() / 1_000_000);
    }
}
