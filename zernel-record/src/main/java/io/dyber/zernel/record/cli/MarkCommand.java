package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.mark.Mark;
import io.dyber.zernel.record.mark.Marking.Taken;
import io.dyber.zernel.record.mark.Marking;
import io.dyber.zernel.record.option.RecorderException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.ObjectMapper;

/// `zernel-record mark`: names this moment in every running recording.
@Command(
        name = "mark",
        mixinStandardHelpOptions = true,
        descriptionHeading = "%n",
        description = {
            "Names this moment in all running recordings.",
            "It is a row of kind 'mark' at the time of the call.",
            "Exit status: 0 at least one recording has it, 1 none.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  zernel-record mark 'epoch 3'",
            "  zernel-record mark --json \"switched to the new loader\"",
            "",
            "Then: zernel-analyze sql run.parquet \"SELECT ts_ns, name FROM events WHERE kind = 'mark'\""
        })
final class MarkCommand implements Callable<Integer> {
    /// What the JVM makes of a byte that it cannot read.
    private static final char LOST = '\uFFFD';

    private final LongSupplier calledAt;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--json", description = "print the recordings as JSON")
    private boolean json;

    @Parameters(paramLabel = "TEXT", description = "the name of the moment, at most 1 KiB")
    @SuppressWarnings("NullAway.Init")
    private String text;

    /// @param calledAt when the user called it, on CLOCK_MONOTONIC
    MarkCommand(LongSupplier calledAt) {
        this.calledAt = calledAt;
    }

    @Override
    public Integer call() {
        Marking marking = Marking.send(mark());
        PrintWriter err = spec.commandLine().getErr();
        marking.refused().forEach(why -> err.println("zernel-record: " + why));
        if (marking.taken().isEmpty()) {
            throw nobody(marking);
        }
        if (marking.foreign() > 0) {
            err.println("zernel-record: not marked: " + foreign(marking));
        }
        print(spec.commandLine().getOut(), marking.taken());
        return 0;
    }

    private Mark mark() {
        try {
            return Mark.ofThisThread(calledAt.getAsLong(), typed());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    /// The text as it was typed. In a locale that is not UTF-8 the JVM has already lost what is not ASCII; the kernel has
    /// not.
    private String typed() {
        List<String> words = spec.root().commandLine().getParseResult().originalArgs();
        if (text.indexOf(LOST) < 0) {
            return text;
        }
        try {
            String[] line = Files.readString(Path.of("/proc/self/cmdline")).split("\0");
            int place = line.length - words.size() + words.lastIndexOf(text);
            return place >= 0 ? line[place] : text;
        } catch (IOException _) {
            return text;
        }
    }

    private RecorderException nobody(Marking marking) {
        String doing = "marking '" + text + "': ";
        if (marking.foreign() > 0) {
            return new RecorderException(doing + foreign(marking), "mark it with sudo");
        }
        return new RecorderException(
                doing + "no recording is running", "start one: sudo zernel-record -o run.parquet");
    }

    private static String foreign(Marking marking) {
        return marking.foreign() == 1
                ? "a recording belongs to another user"
                : marking.foreign() + " recordings belong to other users";
    }

    private void print(PrintWriter out, List<Taken> taken) {
        if (json) {
            out.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(taken));
            return;
        }
        out.println("marked '" + text + "' in " + taken.size() + (taken.size() == 1 ? " recording" : " recordings"));
        taken.forEach(recording -> out.printf(
                Locale.ROOT, "  %s at %.3f s%n", recording.output(), recording.nanos() / 1e9));
    }
}
