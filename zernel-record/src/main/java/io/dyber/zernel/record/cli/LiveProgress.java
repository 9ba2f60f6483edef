package io.dyber.zernel.record.cli;

import io.dyber.zernel.format.SizeText;
import io.dyber.zernel.format.Visible;
import io.dyber.zernel.record.option.OutputPolicy;
import io.dyber.zernel.record.option.Progress;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.RecordResult;
import java.io.Console;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The lines on stderr while recording: one that is redrawn on a terminal, and the summary.
final class LiveProgress implements Progress {
    private final PrintWriter err;
    private final RecordOptions options;
    private final boolean quiet;
    private final Runnable onStart;
    private final boolean terminal = onTerminal();
    private long lastEvents;
    private long lastNanos;
    private int lastLength;
    private boolean lineOpen;

    /// @param onStart called once, when events are being recorded
    LiveProgress(PrintWriter err, RecordOptions options, boolean quiet, Runnable onStart) {
        this.err = err;
        this.options = options;
        this.quiet = quiet;
        this.onStart = onStart;
    }

    private static boolean onTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal() && !"dumb".equals(System.getenv("TERM"));
    }

    @Override
    public void started(Started started) {
        say("recording " + what() + " to " + options.output() + " (" + functions(started.functions()) + ", "
                + started.backend() + " backend" + cost(started) + foreseen(started) + ")"
                + (options.command().isEmpty() ? "; Ctrl-C stops" : ""));
        onStart.run();
    }

    /// None is usual at the start of a command, and no failure.
    private static String functions(int probed) {
        return switch (probed) {
            case 0 -> "functions will be probed as libraries are loaded";
            case 1 -> "1 function probed";
            default -> probed + " functions probed";
        };
    }

    private static String foreseen(Started started) {
        return started.foreseen() == 0
                ? ""
                : String.format(Locale.ROOT, ", %d librar%s probed ahead", started.foreseen(), started.foreseen() == 1 ? "y" : "ies");
    }

    private static String cost(Started started) {
        if (started.callNanos() == 0) {
            return "";
        }
        String trapped = started.trappedNanos() == 0
                ? ""
                : String.format(Locale.ROOT, ", ~%.1f us of functions that take a debug trap", started.trappedNanos() / 1e3);
        return String.format(Locale.ROOT, ", ~%.1f us per recorded call here%s", started.callNanos() / 1e3, trapped);
    }

    private String what() {
        if (!options.command().isEmpty()) {
            return "'" + String.join(" ", options.command()) + "'";
        }
        return options.pids().isEmpty() ? "every job" : "process " + options.pids();
    }

    @Override
    public void going(Status status) {
        if (quiet || !terminal) {
            return;
        }
        double rate = (status.events() - lastEvents) * 1e9 / Math.max(1, status.nanos() - lastNanos);
        lastEvents = status.events();
        lastNanos = status.nanos();
        String line = String.format(
                Locale.ROOT,
                "%4ds  %,d events  %,.0f/s  %,d lost  %s  probes ~%.2f %% of a CPU",
                status.nanos() / 1_000_000_000L,
                status.events(),
                rate,
                status.lost(),
                SizeText.of(status.bytes()),
                100 * status.probeShare());
        // With blanks and not with an escape sequence, which NO_COLOR asks not to see in logs.
        err.print("\r" + line + " ".repeat(Math.max(0, lastLength - line.length())));
        err.flush();
        lastLength = line.length();
        lineOpen = true;
    }

    @Override
    public void notice(String line) {
        say(line);
    }

    /// The summary: what was written, what is missing from it, what to do next.
    void finished(RecordResult result) {
        say(String.format(
                Locale.ROOT,
                "wrote %s: %,d events, %s, %,d lost, %s",
                result.output(),
                result.events(),
                SizeText.of(result.bytes()),
                result.lost(),
                result.incompleteBecause().isEmpty() ? "complete" : "INCOMPLETE"));
        for (String reason : result.incompleteBecause()) {
            say("incomplete: " + reason);
        }
        say("next: zernel-analyze report " + files(result));
    }

    /// All files of a rotated series; of a flight recorder's the last, because they overlap.
    private String files(RecordResult result) {
        String name = result.output().toString();
        return options.outputPolicy() instanceof OutputPolicy.Rotation
                ? "'" + name.replaceFirst("-\\d{8}T\\d{6}Z(_\\d+)?(?=[^/]*$)", "-*") + "'"
                : name;
    }

    private void say(String line) {
        if (quiet) {
            return;
        }
        if (lineOpen) {
            err.println();
            lineOpen = false;
            lastLength = 0;
        }
        // A notice may have a second line, its hint.
        err.println("zernel-record: " + Pattern.compile("\nhint: ").splitAsStream(line).map(Visible::of).collect(Collectors.joining("\nhint: ")));
        err.flush();
    }
}
