package io.dyber.zernel.record.activity;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Footer.ActivityWindow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is made of the records of a process, whose CUPTI has CLOCK_MONOTONIC here.
class ProcessActivityTest {
    private static final int SIZE = 65536;
    private static final int HEADER = 4096;
    private static final int RECORD = 8;

    @TempDir
    private Path folder = Path.of("");

    private final ByteBuffer bytes = ByteBuffer.allocate(HEADER + SIZE).order(ByteOrder.LITTLE_ENDIAN);
    private int head;

    /// Begins a record; its fields follow at the answer.
    private int record(int type, int fields) {
        int at = HEADER + head;
        bytes.putInt(at, RECORD + fields).putInt(at + 4, type);
        head += RECORD + fields;
        return at + RECORD;
    }

    private void clock(long now) {
        bytes.putLong(record(ActivityRing.CLOCK, 24), now).putLong(HEADER + head - 16, now);
    }

    private void switchTo(boolean on, long now) {
        bytes.putLong(record(ActivityRing.SWITCH, 16), now).putInt(HEADER + head - 8, on ? 1 : 0);
    }

    private void call(int correlation, long began) {
        bytes.putLong(record(ActivityRing.CALL, 16), began).putInt(HEADER + head - 8, correlation);
    }

    private void kernel(int correlation, long start, long end) {
        int at = record(ActivityRing.KERNEL, 56);
        bytes.putLong(at, start).putLong(at + 8, end).putInt(at + 24, correlation);
    }

    private List<ActivityWindow> windows() throws IOException {
        bytes.putLong(0, ActivityRing.MAGIC).putInt(8, 4711).putInt(12, 2).putLong(16, SIZE).putLong(64, head);
        ActivityRing ring = new ActivityRing(Files.write(folder.resolve("4711"), bytes.array()), SIZE);
        ProcessActivity process = new ProcessActivity(ring, name -> name, (_, _, _, _, _) -> {});
        process.close();
        return process.describe(0, Long.MAX_VALUE, 0).windows();
    }

    /// A GPU that lags behind by seconds completes much of a window only after the next one has begun.
    @Test
    void whatIsCompleteInTheNextWindowBelongsToThatInWhichItWasLaunched() throws IOException {
        clock(900);
        switchTo(true, 1_000);
        call(1, 1_100);
        kernel(1, 1_110, 1_120);
        call(2, 1_200);
        clock(1_300);
        switchTo(false, 1_310);
        clock(1_400);
        switchTo(true, 5_000);
        kernel(2, 4_990, 5_100);
        call(3, 5_200);
        kernel(3, 5_210, 5_220);
        clock(5_300);
        assertThat(windows()).containsExactly(new ActivityWindow(1_110, 5_100, 2), new ActivityWindow(5_210, 5_220, 1));
    }

    @Test
    void anActivityWhoseLaunchIsNotKnownBelongsToTheWindowInWhichItBegan() throws IOException {
        clock(900);
        switchTo(true, 1_000);
        switchTo(false, 1_310);
        switchTo(true, 5_000);
        kernel(1, 1_200, 1_250);
        kernel(2, 5_200, 5_250);
        clock(5_300);
        assertThat(windows()).containsExactly(new ActivityWindow(1_200, 1_250, 1), new ActivityWindow(5_200, 5_250, 1));
    }
}
