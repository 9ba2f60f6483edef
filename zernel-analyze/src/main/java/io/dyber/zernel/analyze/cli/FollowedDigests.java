package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.export.DigestPush;
import io.dyber.zernel.analyze.export.OutputFile;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Digests the last seconds of a recording while it is being written, again and again, at moments that are the same on all
/// machines: multiples of the time between them by the clock. Each replaces the one before.
final class FollowedDigests {
    /// What began before a moment is in the journal so much later.
    private static final Duration SETTLED = Duration.ofMillis(500);
    private static final Duration POLL = Duration.ofMillis(200);

    private final Options options;
    private final PrintWriter err;
    private boolean begun;
    private String said = "";
    private long written;
    private long skipped;
    private long failed;
    private long lost;

    /// @param followed a recording that is being written, or a folder where recordings are
    /// @param every time between digests
    /// @param last how much of the recording's end a digest is of
    /// @param folder where digests are written; null where they are only pushed
    /// @param push where they are sent, too
    /// @param database how recordings are opened
    record Options(
            Path followed,
            Duration every,
            Duration last,
            @Nullable Path folder,
            Optional<DigestPush> push,
            DatabaseOptions database,
            SqlLibrary library) {}

    FollowedDigests(Options options, PrintWriter err) {
        this.options = options;
        this.err = err;
    }

    /// Digests until the recording has ended; of a folder, for ever.
    ///
    /// @throws RecordingException if nothing can be followed there
    void run() throws InterruptedException {
        Path followed = options.followed();
        boolean isFolder = Files.isDirectory(followed) && !LiveFolder.isOne(followed);
        if (!isFolder && Files.exists(followed) && live().isEmpty()) {
            throw new RecordingException("following '" + followed + "': it is not being written", "without --follow a finished recording is digested");
        }
        long everyNanos = options.every().toNanos();
        for (long due = nextAfter(nowNanos(), everyNanos); ; ) {
            sleepUntil(due + SETTLED.toNanos());
            Optional<LiveFolder> live = live();
            if (live.isPresent()) {
                begun = true;
                digest(live.get(), due);
            } else if (begun && !isFolder) {
                tell("the recording has ended: wrote " + count(written, "digest") + losses());
                return;
            } else {
                say("waiting for " + (isFolder ? "a recording to begin in " : "") + followed);
            }
            long next = nextAfter(Math.max(due, nowNanos()), everyNanos);
            skipped += live.isPresent() ? (next - due) / everyNanos - 1 : 0;
            due = next;
        }
    }

    /// The newest recording that is being written.
    private Optional<LiveFolder> live() {
        Path followed = options.followed();
        if (!Files.isDirectory(followed) || LiveFolder.isOne(followed)) {
            return Optional.of(LiveFolder.of(followed)).filter(folder -> folder.exists() && !folder.isAbandoned());
        }
        try (Stream<Path> files = Files.list(followed)) {
            return files.filter(LiveFolder::hasName)
                    .map(LiveFolder::new)
                    .filter(folder -> folder.exists() && !folder.isAbandoned())
                    .max((a, b) -> Long.compare(modified(a), modified(b)));
        } catch (IOException e) {
            say("listing '" + followed + "': " + e.getMessage());
            return Optional.empty();
        }
    }

    private static long modified(LiveFolder folder) {
        return folder.path().toFile().lastModified();
    }

    private void digest(LiveFolder live, long untilNanos) throws InterruptedException {
        long cpu = cpuNanos();
        DatabaseOptions window = options.database().withEventsFrom(untilNanos - options.last().toNanos());
        try (Database database = Recordings.open(List.of(live.path().toString()), window, options.library())) {
            database.requireEvents();
            Path folder = options.folder() == null ? window.temporaryFolder() : Files.createDirectories(options.folder());
            String name = name(database, live);
            try (OutputFile file = new OutputFile(folder.resolve(name).toString(), true)) {
                Digest.write(database, file.path(), new Digest.Window(untilNanos - options.last().toNanos(), untilNanos));
                push(file.path(), name);
                long bytes = file.size();
                if (options.folder() != null) {
                    file.commit();
                }
                written++;
                say(String.format(
                        Locale.ROOT, "%s: %,d bytes of %,d events, %.1f s of CPU; the next replaces it",
                        options.folder() == null ? name : folder.resolve(name), bytes, database.rows(), (cpuNanos() - cpu) / 1e9), "written");
            }
        } catch (RecordingException e) {
            failed++;
            say(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            failed++;
            say("writing to '" + options.folder() + "': " + e);
        }
    }

    private void push(Path file, String name) throws InterruptedException {
        if (options.push().isPresent()) {
            String why = options.push().get().send(file, name);
            if (!why.isEmpty()) {
                lost++;
                say("pushing " + name + ": " + why);
            }
        }
    }

    /// Of the machine and the recording, so that those of many machines go to one folder.
    private static String name(Database database, LiveFolder live) {
        String json = database.recordings().getFirst().metadata().getOrDefault(Footer.RECORDING, "{}");
        String host = Footer.parse(Map.of(Footer.RECORDING, json)).recording().host();
        String name = (host == null ? "" : host + ".") + String.valueOf(live.output().getFileName()).replaceFirst("\\.parquet$", "");
        return name.replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^[._-]+", "") + Digest.SUFFIX;
    }

    private String losses() {
        return (skipped > 0 ? "; " + skipped + " left out, as others took too long" : "")
                + (failed > 0 ? "; " + failed + " could not be made" : "")
                + (lost > 0 ? "; " + lost + " did not arrive" : "");
    }

    /// Says something that was not said last.
    private void say(String what) {
        say(what, what);
    }

    private void say(String what, String kind) {
        if (!kind.equals(said)) {
            said = kind;
            tell(what + (kind.equals("written") ? losses() : ""));
        }
    }

    private void tell(String what) {
        err.println("zernel-analyze: " + what);
        err.flush();
    }

    private static String count(long number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }

    private static long nowNanos() {
        return System.currentTimeMillis() * 1_000_000;
    }

    private static long nextAfter(long nanos, long every) {
        return (nanos / every + 1) * every;
    }

    /// By the clock, which may be set meanwhile.
    private static void sleepUntil(long nanos) throws InterruptedException {
        for (long left = nanos - nowNanos(); left > 0; left = nanos - nowNanos()) {
            Thread.sleep(Duration.ofNanos(Math.min(left, POLL.toNanos())));
        }
    }

    private static long cpuNanos() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime();
    }
}
