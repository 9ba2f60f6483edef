package io.dyber.zernel.record.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A running `beat`: a job that calls a probed function and writes down when, whatever becomes of its recorder.
final class Beat implements AutoCloseable {
    /// A call as the job saw it.
    ///
    /// @param nanos CLOCK_MONOTONIC before it, as [System#nanoTime] is
    record Call(long number, long nanos, boolean probed) {}

    final Running job;
    private final Path log;

    private Beat(Running job, Path log) {
        this.job = job;
        this.log = log;
    }

    /// A call each millisecond, until it is closed.
    static Beat steady(Path folder) {
        return start(folder, "1000000000", "1000000", "1");
    }

    static Beat start(Path folder, String... arguments) {
        Path log = folder.resolve("beat.log");
        Running job = Running.start(command(log, arguments).toArray(String[]::new));
        job.awaitLine("beating");
        return new Beat(job, log);
    }

    static List<String> command(Path log, String... arguments) {
        List<String> words = new ArrayList<>(List.of(Programs.built("beat").toString(), log.toString()));
        words.addAll(List.of(arguments));
        return words;
    }

    /// What to say to the recorder.
    static String probe() {
        return Programs.built("libcalls.so") + ":calls_push(number=arg1, thread=arg2:u32)";
    }

    /// `zernel-record` of this job.
    Recorder recorder(Path file, String... more) {
        return Recorder.recordTo(file, "-p", Long.toString(job.pid()), "--kinds", "call,process", "--probe", probe())
                .with(more);
    }

    List<Call> calls() {
        return calls(log);
    }

    static List<Call> calls(Path log) {
        try {
            return Files.readAllLines(log).stream()
                    .map(line -> line.split(","))
                    .filter(words -> words.length == 3 && !words[2].isEmpty())
                    .map(words -> new Call(Long.parseLong(words[0]), Long.parseLong(words[1]), words[2].equals("1")))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError("reading " + log + ": " + e.getMessage(), e);
        }
    }

    /// Waits until the job has made a call, and how it was made.
    void awaitNext(boolean probed) {
        long before = calls().size();
        for (int i = 0; i < 1000; i++) {
            List<Call> calls = calls();
            if (calls.size() > before && calls.getLast().probed() == probed) {
                return;
            }
            Running.pause(20);
        }
        throw new AssertionError("the job " + (job.isAlive() ? "goes on, " : "has ended, ")
                + (probed ? "not probed" : "still probed"));
    }

    @Override
    public void close() {
        job.close();
    }
}
