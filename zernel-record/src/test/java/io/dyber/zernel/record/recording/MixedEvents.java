package io.dyber.zernel.record.recording;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.KindRows;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/// The events of a busy training host, for benchmarks: the columns of every recording, filled as eight ranks fill them.
///
/// 57 threads repeat programs of 40 calls of ten kinds with log-normal durations, and leave their events in the order
/// in which calls end. A third are kernel launches; each kind fills its own few of the columns.
public final class MixedEvents {
    static final int BATCH = 32_768;
    static final String DESCRIPTION = "mixed events of 10 kinds, 57 threads, 50 columns";

    private static final String[] KINDS = {
        "cuda_launch", "cuda_launch", "cuda_launch", "io", "wait", "sched", "region", "torch_alloc", "torch_free",
        "cuda_copy", "cuda_sync", "nccl"
    };
    private static final String[] COMMS = {"python", "pt_data_worker", "pt_autograd_0"};
    private static final int THREADS = 57;
    private static final int CALLS = 40;
    private static final int NAMES = 300;

    private final Schema schema = CompiledPrograms.schema(List.of());
    private final StringDictionary texts = new StringDictionary();
    private final SplittableRandom random = new SplittableRandom(1);
    private final long[] now = new long[THREADS];
    private final int[] place = new int[THREADS];
    private final int[][] programs = new int[THREADS][CALLS];
    private final List<Batch> batches = new ArrayList<>();

    MixedEvents(int batchCount) {
        for (int t = 0; t < THREADS; t++) {
            now[t] = 1_767_225_600_000_000_000L + random.nextInt(100_000);
            for (int p = 0; p < CALLS; p++) {
                programs[t][p] = new SplittableRandom(t % 8 * 100L + p).nextInt(NAMES);
            }
        }
        for (int b = 0; b < batchCount; b++) {
            batches.add(batch());
        }
    }

    Schema schema() {
        return schema;
    }

    StringDictionary texts() {
        return texts;
    }

    List<Batch> batches() {
        return batches;
    }

    long rows() {
        return (long) batches.size() * BATCH;
    }

    /// What a file takes on the disk: its holes take nothing.
    public static long diskBytes(Path file) throws IOException {
        Process du = new ProcessBuilder("du", "--block-size=1", file.toString()).start();
        return Long.parseLong(new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\t")[0]);
    }

    /// Moves all events behind the last one, so that the batches can be written again.
    void later() {
        int ts = schema.index("ts_ns");
        long first = Long.MAX_VALUE;
        long last = 0;
        for (Batch batch : batches) {
            for (int row = 0; row < batch.rows(); row++) {
                first = Math.min(first, batch.value(ts, row));
                last = Math.max(last, batch.value(ts, row));
            }
        }
        for (Batch batch : batches) {
            for (KindRows kind : batch.kinds()) {
                for (int row = 0; row < kind.rows(); row++) {
                    kind.values(ts)[row] += last - first;
                }
            }
        }
    }

    /// The next event is that of the thread whose call ends first.
    private Batch batch() {
        Batch batch = new Batch(schema.columns(), BATCH);
        while (!batch.isFull()) {
            int t = earliest();
            int call = programs[t][place[t]++ % CALLS];
            long duration = Math.round(Math.exp(9 + call % 7 * 0.3 + random.nextGaussian() * 0.6));
            add(batch, t, call, duration);
            now[t] += duration + 2_000 + random.nextInt(4_000);
        }
        return batch;
    }

    private void add(Batch batch, int t, int call, long duration) {
        String kind = KINDS[call % KINDS.length];
        batch.addRow(texts.id(kind));
        put(batch, "kind", texts.id(kind));
        put(batch, "name", texts.id("call " + call));
        put(batch, "ts_ns", now[t]);
        put(batch, "pid", 1000 + t / 8 * 8);
        put(batch, "tid", 1000 + t);
        put(batch, "cpu", random.nextInt(20) == 0 ? random.nextInt(16) : t % 16);
        put(batch, "comm", texts.id(COMMS[t % 3]));
        if (!kind.startsWith("torch")) {
            put(batch, "dur_ns", duration);
        }
        switch (kind) {
            case "cuda_launch" -> launch(batch, t, call);
            case "io" -> io(batch, call);
            case "wait" -> {
                put(batch, "status", call % 5 == 0 ? -110 : 0);
                put(batch, "addr", 0x7f00_0000_0000L + t * 4096L + call * 64L);
                put(batch, "object", texts.id("futex"));
            }
            case "sched" -> {
                put(batch, "runq_ns", duration / (2 + random.nextInt(20)));
                put(batch, "state", texts.id(call % 2 == 0 ? "sleeping" : "preempted"));
            }
            case "torch_alloc", "torch_free" -> {
                put(batch, "bytes", 512L << call % 12);
                put(batch, "addr", 0x7e00_0000_0000L + random.nextInt(2_000) * 512L);
                put(batch, "device", t / 8);
                put(batch, "stream", 0);
            }
            case "cuda_copy", "cuda_sync" -> copy(batch, t, call);
            case "nccl" -> nccl(batch, t, call);
            default -> {}
        }
    }

    private void launch(Batch batch, int t, int call) {
        put(batch, "depth", 0);
        put(batch, "status", 0);
        put(batch, "func", 0x5500_0000_0000L + call * 128L);
        put(batch, "kernel", texts.id("void at::native::vectorized_elementwise_kernel<" + call + ">"));
        put(batch, "grid_x", 1 + call % 50 * 16);
        put(batch, "grid_y", 1 + call % 3);
        put(batch, "grid_z", 1);
        put(batch, "block_x", 32L << call % 5);
        put(batch, "block_y", 1);
        put(batch, "block_z", 1);
        put(batch, "shared_bytes", call % 4 == 0 ? 16_384 : 0);
        put(batch, "stream", 0x5600_0000_0000L + t / 8);
    }

    private void io(Batch batch, int call) {
        long bytes = call % 2 == 0 ? 65_536 : random.nextInt(200_000);
        put(batch, "fd", 3 + call % 9);
        put(batch, "bytes", bytes);
        put(batch, "status", 0);
        put(batch, "path", texts.id("/data/shard-" + random.nextInt(64) + ".tar"));
        put(batch, "miss_bytes", call % 4 == 0 ? bytes : 0);
        put(batch, "io_ns", call % 4 == 0 ? 80_000 + random.nextInt(100_000) : 0);
    }

    private void copy(Batch batch, int t, int call) {
        put(batch, "depth", 0);
        put(batch, "status", 0);
        put(batch, "stream", 0x5600_0000_0000L + t / 8);
        put(batch, "addr", 0x7e00_0000_0000L + random.nextInt(2_000) * 512L);
        if (call % KINDS.length == 9) {
            put(batch, "bytes", 4096L << call % 10);
            put(batch, "src", 0x7e00_0000_0000L + random.nextInt(2_000) * 512L);
            put(batch, "copy_kind", texts.id("HtoD"));
            put(batch, "async", 1);
            put(batch, "host_memory", texts.id("pinned"));
        }
    }

    private void nccl(Batch batch, int t, int call) {
        put(batch, "depth", 0);
        put(batch, "status", 0);
        put(batch, "bytes", 4L << 20);
        put(batch, "count", 1L << 20);
        put(batch, "dtype", texts.id("float"));
        put(batch, "op", texts.id("sum"));
        put(batch, "communicator", 0x5700_0000_0000L + t / 8);
        put(batch, "comm_id", 77);
        put(batch, "seq", place[t]);
        put(batch, "rank", t / 8);
        put(batch, "nranks", 8);
        put(batch, "stream", 0x5600_0000_0000L + call % 2);
        put(batch, "grouped", 0);
    }

    private void put(Batch batch, String column, long value) {
        batch.put(schema.index(column), value);
    }

    private int earliest() {
        int earliest = 0;
        for (int t = 1; t < now.length; t++) {
            earliest = now[t] < now[earliest] ? t : earliest;
        }
        return earliest;
    }
}
