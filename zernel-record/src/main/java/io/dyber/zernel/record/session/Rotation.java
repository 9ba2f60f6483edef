package io.dyber.zernel.record.session;

import io.dyber.zernel.record.option.OutputPolicy;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.rows.EventPump;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Divides a recording into files while it goes on.
///
/// A division lies between two turns of the pump: the counters are read there and the decoder stands still, so an event,
/// and what is told of it in the footer, is either before it or behind it. It belongs to the recording's thread.
final class Rotation {
    /// Of the time that a flight recorder keeps, what it forgets at once.
    private static final int SLICES = 10;

    private final Path output;
    private final OutputPolicy outputPolicy;
    private final RecordingFile file;
    private final EventPump pump;
    private final FooterBuilder footer;
    private final Runnable counting;
    private final Deque<ProgressSnapshot> cuts = new ArrayDeque<>();
    private long nextNanos = System.nanoTime();
    private int number = 1;

    /// @param counting reads the counters and asks the pump for the rows that say what they count
    Rotation(RecordOptions options, RecordingFile file, EventPump pump, FooterBuilder footer, Runnable counting) {
        this.output = options.output();
        this.outputPolicy = options.outputPolicy();
        this.file = file;
        this.pump = pump;
        this.footer = footer;
        this.counting = counting;
        cuts.add(footer.start());
    }

    /// Begins the first part.
    void begin() {
        nextNanos = System.nanoTime() + intervalNanos();
    }

    private long intervalNanos() {
        return switch (outputPolicy) {
            case OutputPolicy.None() -> Long.MAX_VALUE / 2;
            case OutputPolicy.Rotation rotation ->
                rotation.time().map(Duration::toNanos).orElse(Long.MAX_VALUE / 2);
            case OutputPolicy.FlightRecorder recorder -> recorder.window().toNanos() / SLICES;
        };
    }

    /// Writes the file of a flight recorder and goes on.
    ///
    /// @param why in the footer
    void dump(String stop, Triggers.Fired why) {
        if (outputPolicy instanceof OutputPolicy.FlightRecorder recorder) {
            cut().ifPresent(here -> {
                ProgressSnapshot start = cuts.element();
                file.copyOut(here.cutPoint(), start.nanos(), footer.values(start, here, stop, Optional.of(why)));
                slide(here, recorder.window().toNanos());
            });
        }
    }

    /// Divides when it is time to.
    void tick() {
        switch (outputPolicy) {
            case OutputPolicy.None() -> {}
            case OutputPolicy.Rotation rotation -> {
                if (isTime() || file.partBytes() >= rotation.bytes().orElse(Long.MAX_VALUE)) {
                    cut().ifPresent(this::moveOut);
                }
            }
            case OutputPolicy.FlightRecorder recorder -> {
                if (isTime()) {
                    cut().ifPresent(here -> slide(here, recorder.window().toNanos()));
                }
            }
        }
    }

    private boolean isTime() {
        long late = System.nanoTime() - nextNanos;
        if (late < 0) {
            return false;
        }
        nextNanos += (late / intervalNanos() + 1) * intervalNanos();
        return true;
    }

    private void moveOut(ProgressSnapshot here) {
        ProgressSnapshot start = cuts.remove();
        file.moveOut(here.cutPoint(), start.nanos(), footer.values(start, here, "rotated"));
        cuts.add(here);
        describe();
    }

    private void slide(ProgressSnapshot here, long window) {
        cuts.add(here);
        while (cuts.size() > 1 && second().nanos() <= here.nanos() - window) {
            cuts.remove();
            file.forget(cuts.element().cutPoint());
        }
    }

    private ProgressSnapshot second() {
        return cuts.stream().skip(1).findFirst().orElseThrow();
    }

    /// Empty when the pump has ended.
    private Optional<ProgressSnapshot> cut() {
        CompletableFuture<ProgressSnapshot> here = new CompletableFuture<>();
        pump.later(_ -> {
            counting.run();
            pump.later(decoder -> {
                decoder.flush();
                here.complete(footer.snapshot(++number, file.cut(), false));
            });
        });
        while (pump.failure().isEmpty()) {
            try {
                return Optional.of(here.get(100, TimeUnit.MILLISECONDS));
            } catch (TimeoutException _) {
                // The pump is busy, or has just ended.
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            } catch (ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
        return Optional.empty();
    }

    /// Puts the footer of the part as it is now where a crash leaves it.
    void describe() {
        file.describe(footer.values(cuts.element(), now(false), ""));
    }

    /// Ends the recording with the last file, and returns its name.
    Path finish(String stop) {
        ProgressSnapshot start = cuts.element();
        Map<String, String> values = footer.values(start, now(true), stop);
        if (outputPolicy instanceof OutputPolicy.None) {
            file.finish(values);
            return output;
        }
        return file.finishSeries(start.nanos(), values);
    }

    /// Why the recording as a whole does not hold everything that was asked for; empty when it does.
    List<String> incompleteBecause(String stop) {
        return footer.incompleteBecause(footer.start(), now(true), stop);
    }

    private ProgressSnapshot now(boolean ended) {
        return footer.snapshot(number, new RecordingFile.CutPoint(0, file.events()), ended);
    }
}
