package io.dyber.zernel.record;

import io.dyber.zernel.record.sink.RecordingFile;
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
final class Parts {
    /// Of the time that a flight recorder keeps, what it forgets at once.
    private static final int SLICES = 10;

    private final Path output;
    private final Division division;
    private final RecordingFile file;
    private final EventPump pump;
    private final Description description;
    private final Runnable counting;
    private final Deque<Standing> borders = new ArrayDeque<>();
    private long nextNanos = System.nanoTime();
    private int number = 1;

    /// @param counting reads the counters and asks the pump for the rows that say what they count
    Parts(RecordOptions options, RecordingFile file, EventPump pump, Description description, Runnable counting) {
        this.output = options.output();
        this.division = options.division();
        this.file = file;
        this.pump = pump;
        this.description = description;
        this.counting = counting;
        borders.add(description.start());
    }

    /// Begins the first part.
    void begin() {
        nextNanos = System.nanoTime() + intervalNanos();
    }

    private long intervalNanos() {
        return switch (division) {
            case Division.None() -> Long.MAX_VALUE / 2;
            case Division.Rotation rotation ->
                rotation.time().map(Duration::toNanos).orElse(Long.MAX_VALUE / 2);
            case Division.FlightRecorder recorder -> recorder.window().toNanos() / SLICES;
        };
    }

    /// Writes the file of a flight recorder and goes on.
    ///
    /// @param why in the footer
    void dump(String stop, Triggers.Fired why) {
        if (division instanceof Division.FlightRecorder recorder) {
            cut().ifPresent(border -> {
                Standing start = borders.element();
                file.copyOut(border.border(), start.nanos(), description.values(start, border, stop, Optional.of(why)));
                slide(border, recorder.window().toNanos());
            });
        }
    }

    /// Divides when it is time to.
    void tick() {
        switch (division) {
            case Division.None() -> {}
            case Division.Rotation rotation -> {
                if (isTime() || file.partBytes() >= rotation.bytes().orElse(Long.MAX_VALUE)) {
                    cut().ifPresent(this::moveOut);
                }
            }
            case Division.FlightRecorder recorder -> {
                if (isTime()) {
                    cut().ifPresent(border -> slide(border, recorder.window().toNanos()));
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

    private void moveOut(Standing border) {
        Standing start = borders.remove();
        file.moveOut(border.border(), start.nanos(), description.values(start, border, "rotated"));
        borders.add(border);
        describe();
    }

    private void slide(Standing border, long window) {
        borders.add(border);
        while (borders.size() > 1 && second().nanos() <= border.nanos() - window) {
            borders.remove();
            file.forget(borders.element().border());
        }
    }

    private Standing second() {
        return borders.stream().skip(1).findFirst().orElseThrow();
    }

    /// Empty when the pump has ended.
    private Optional<Standing> cut() {
        CompletableFuture<Standing> border = new CompletableFuture<>();
        pump.later(_ -> {
            counting.run();
            pump.later(decoder -> {
                decoder.flush();
                border.complete(description.standing(++number, file.cut(), false));
            });
        });
        while (pump.failure().isEmpty()) {
            try {
                return Optional.of(border.get(100, TimeUnit.MILLISECONDS));
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
        file.describe(description.values(borders.element(), now(false), ""));
    }

    /// Ends the recording with the last file, and returns its name.
    Path finish(String stop) {
        Standing start = borders.element();
        Map<String, String> footer = description.values(start, now(true), stop);
        if (division instanceof Division.None) {
            file.finish(footer);
            return output;
        }
        return file.finishSeries(start.nanos(), footer);
    }

    /// Why the recording as a whole does not hold everything that was asked for; empty when it does.
    List<String> incompleteBecause(String stop) {
        return description.incompleteBecause(description.start(), now(true), stop);
    }

    private Standing now(boolean ended) {
        return description.standing(number, new RecordingFile.Border(0, file.events()), ended);
    }
}
