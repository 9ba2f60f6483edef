package io.dyber.zernel.record.live;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// A child process that a test talks to. Its output is read all the time, so it never blocks on a full pipe. Closing
/// kills it when it still runs.
final class Running implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final Process process;
    private final Lines out;
    private final Lines err;

    private Running(Process process) {
        this.process = process;
        out = new Lines(process.getInputStream(), "out");
        err = new Lines(process.getErrorStream(), "err");
    }

    static Running start(ProcessBuilder builder) {
        try {
            return new Running(builder.start());
        } catch (IOException e) {
            throw new AssertionError("starting " + builder.command() + ": " + e.getMessage(), e);
        }
    }

    static Running start(String... command) {
        return start(new ProcessBuilder(command));
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Waits until a line of either output contains the text, and returns the line.
    String awaitLine(String part) {
        return awaitLine(part, 1);
    }

    /// Waits until so many lines contain the text, and returns the last.
    String awaitLine(String part, int times) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < deadline) {
            boolean ended = !process.isAlive();
            if (ended) {
                out.join();
                err.join();
            }
            List<String> found = Stream.of(out, err)
                    .flatMap(lines -> lines.soFar().stream())
                    .filter(line -> line.contains(part))
                    .toList();
            if (found.size() >= times) {
                return found.get(times - 1);
            }
            if (ended) {
                throw new AssertionError("ended before saying '" + part + "': " + await());
            }
            pause(5);
        }
        throw new AssertionError("did not say '" + part + "' in " + PATIENCE + ": " + out + err);
    }

    void say(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new AssertionError("saying '" + line + "': " + e.getMessage() + ": " + out + err, e);
        }
    }

    void signal(String name) {
        Running kill = start("kill", "-" + name, Long.toString(pid()));
        if (kill.await().status() != 0) {
            throw new AssertionError("sending SIG" + name + " to " + pid() + ": no such process: " + out + err);
        }
    }

    /// Stops it, and waits until each of its threads stands still: a signal only asks for it.
    void stop() {
        signal("STOP");
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!everyThreadIsStopped()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("still running " + PATIENCE + " after SIGSTOP: " + out + err);
            }
            pause(5);
        }
    }

    private boolean everyThreadIsStopped() {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid()), "task"))) {
            return threads.allMatch(thread -> state(thread).equals(Optional.of("T")));
        } catch (IOException e) {
            throw new AssertionError("reading the threads of " + pid() + ": " + e.getMessage(), e);
        }
    }

    /// The state of a process or thread, as `R`, `S` or `T`.
    ///
    /// @param folder its folder in `/proc`
    /// @return empty if it has ended
    static Optional<String> state(Path folder) {
        try {
            String stat = Files.readString(folder.resolve("stat"));
            int state = stat.lastIndexOf(')') + 2;
            return Optional.of(stat.substring(state, state + 1));
        } catch (IOException | UncheckedIOException _) {
            return Optional.empty();
        }
    }

    /// Waits for the end.
    Outcome await() {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("still running after " + PATIENCE + ": " + out + err);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
        out.join();
        err.join();
        return new Outcome(process.exitValue(), out.soFar(), err.soFar());
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /// How a process ended.
    record Outcome(int status, List<String> out, List<String> err) {}

    /// The lines of one output, collected by a thread of its own.
    private static final class Lines {
        private final List<String> lines = new ArrayList<>();
        private final Thread reader;
        private final String name;

        Lines(InputStream stream, String name) {
            this.name = name;
            reader = Thread.ofPlatform().daemon().start(() -> read(stream));
        }

        private void read(InputStream stream) {
            try (BufferedReader lineReader =
                    new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                for (String line = lineReader.readLine(); line != null; line = lineReader.readLine()) {
                    synchronized (lines) {
                        lines.add(line);
                    }
                }
            } catch (IOException _) {
                // The process is gone, and so is its pipe.
            }
        }

        /// A grandchild that was left behind can hold the pipe open: wait for the end of the output only so long.
        void join() {
            try {
                reader.join(Duration.ofSeconds(5));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }

        List<String> soFar() {
            synchronized (lines) {
                return List.copyOf(lines);
            }
        }

        @Override
        public String toString() {
            return "\nstd" + name + ": " + String.join("\n        ", soFar());
        }
    }
}
