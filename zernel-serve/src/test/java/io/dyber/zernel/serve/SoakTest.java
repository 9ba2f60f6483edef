package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.analysis.Inferred;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Days of events that never repeat themselves: processes come and go, names, communicators and allocations are new
/// again and again. Memory settles. `-Dsoak.minutes=1440` for a day of event time.
@Timeout(600)
final class SoakTest {
    private static final int MINUTES = Integer.getInteger("soak.minutes", 60);
    private static final int PARTS = 6;
    private static final int COLLECTIONS = 4;
    private static final long SECOND = 1_000_000_000L;
    private static final List<String> KINDS =
            List.of("cuda_launch", "cuda_sync", "cuda_copy", "nccl", "backward", "dist_wait", "io", "wait", "call", "torch_alloc");

    @Test
    void memoryIsFlatHoweverLongItRuns() {
        Inferences inferences = new Inferences(false);
        LiveMetrics live = new LiveMetrics(20, inferences, new Alerting(AlertRules.defaults(), _ -> {}));
        SplittableRandom random = new SplittableRandom(1);
        List<Long> usedBytes = new ArrayList<>();
        int secondsPerPart = MINUTES * 60 / PARTS;
        long now = EveryKind.START;
        for (int part = 0; part < PARTS; part++) {
            for (int second = 0; second < secondsPerPart; second++) {
                live.apply(second(now, random));
                inferences.add(inferred(now, random));
                now += SECOND;
            }
            usedBytes.add(usedBytes());
        }
        long settled = usedBytes.get(PARTS / 2 - 1);
        assertThat(usedBytes.getLast()).as("after each part: %s", usedBytes).isLessThan(settled + (3 << 20));
    }

    /// 50 events of processes that live for about a minute and of names that never come again.
    private static EventBatch second(long now, SplittableRandom random) {
        Events events = new Events();
        long generation = now / (60 * SECOND);
        for (int i = 0; i < 50; i++) {
            long pid = 1000 + generation * 40 + random.nextInt(40);
            String kind = KINDS.get(i % KINDS.size());
            String name = kind.equals("call") ? "f" + random.nextLong() : "ncclAllReduce";
            events.add(kind, name, pid, now + i, (long) (5_000 * Math.exp(2 * random.nextGaussian())))
                    .with(LongColumn.BYTES, 4096)
                    .with(LongColumn.ADDR, random.nextLong())
                    .with(LongColumn.COMM_ID, random.nextInt())
                    .with(LongColumn.SEQ, i);
        }
        for (int i = 0; i < 3; i++) {
            events.add("process", "exit", 1000 + (generation - 1) * 40 + random.nextInt(40), now + 100, 0);
        }
        return events.batch();
    }

    /// Steps and collectives of processes that are never the same either.
    private static List<Inferred> inferred(long now, SplittableRandom random) {
        List<Inferred> inferred = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            long pid = 1000 + now / (60 * SECOND) * 40 + random.nextInt(40);
            inferred.add(new Inferred.Step(pid, now - SECOND, now, SECOND / 2, SECOND / 2, 0, 0, 0));
            inferred.add(new Inferred.Late(pid, now, random.nextInt(1_000_000)));
            inferred.add(new Inferred.Skew("ncclAllReduce", now, random.nextInt(1_000_000)));
        }
        return inferred;
    }

    /// The least of four collections: only each fourth one leaves no garbage in regions that hold little of it
    /// (`-XX:MarkSweepAlwaysCompactCount`), and which one that is depends on the tests before.
    private static long usedBytes() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }
}
