package io.dyber.zernel.record.sink;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.ColumnType;
import io.dyber.zernel.record.event.Texts;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/// How fast columns become a recording, and how large it is. Not a test; run its `main` with the test class path:
/// `java -cp ... io.dyber.zernel.record.sink.RecordingBenchmark [millions of events] [runs]`.
///
/// The events are those of a busy training host: 57 threads that repeat small programs of calls, log-normal durations,
/// end order, seven of the sixteen columns mostly or always NULL. Compared with DuckDB's COPY of the same rows.
final class RecordingBenchmark {
    private static final int BATCH = 32_768;
    private static final List<Column> COLUMNS =
            List.of(
                    text("kind"), text("name"), number("ts_ns", "ns"), number("dur_ns", "ns"), number("pid", ""),
                    number("tid", ""), number("cpu", ""), text("comm"), number("child_pid", ""),
                    number("child_tid", ""), number("status", ""), text("path"), number("fd", ""),
                    number("bytes", "bytes"), number("addr", ""), number("count", ""));
    private static final String[] KINDS = {"io", "wait", "region", "backward"};
    private static final String[] COMMS = {"python", "pt_data_worker", "pt_autograd_0"};

    private RecordingBenchmark() {}

    /// Prints one line per run, then DuckDB's.
    public static void main(String[] args) throws IOException {
        long events = (args.length > 0 ? Long.parseLong(args[0]) : 20) * 1_000_000;
        int runs = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        Texts texts = new Texts();
        List<Batch> batches = batches(texts, (int) Math.min(events / BATCH + 1, 128));
        Path folder = Files.createTempDirectory("zernel-benchmark");
        Path output = folder.resolve("run.parquet");
        for (int run = 0; run < runs; run++) {
            record(output, texts, batches, events);
        }
        copyWithDuckDb(output, folder.resolve("duckdb.parquet"));
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void record(Path output, Texts texts, List<Batch> batches, long events) throws IOException {
        Files.deleteIfExists(output);
        long cpuBefore = cpuNanos();
        long before = System.nanoTime();
        long written = 0;
        long finishing;
        long writing = 0;
        try (RecordingFile file = RecordingFile.create(output, COLUMNS, texts, new RecordingFile.Options())) {
            long shift = 0;
            for (int i = 0; written < events; i++) {
                Batch batch = batches.get(i % batches.size());
                if (i > 0 && i % batches.size() == 0) {
                    shift = later(batches);
                }
                file.write(batch);
                written += batch.rows();
            }
            writing = System.nanoTime() - before;
            file.finish(Map.of("zernel.benchmark", Long.toString(shift)));
            finishing = System.nanoTime() - before - writing;
        }
        long wall = System.nanoTime() - before;
        System.out.printf(
                Locale.ROOT,
                "%.1f M events: %.2f M/s wall, %.0f ns CPU/event (%.2f M/s/core), %.2f B/event, stop %.0f ms%n",
                written / 1e6,
                written * 1e3 / wall,
                (double) (cpuNanos() - cpuBefore) / written,
                written * 1e3 / (cpuNanos() - cpuBefore),
                (double) Files.size(output) / written,
                finishing / 1e6);
    }

    private static void copyWithDuckDb(Path recording, Path copy) throws IOException {
        long before = System.nanoTime();
        long cpuBefore = cpuNanos();
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            boolean _ = statement.execute("COPY (FROM '" + recording + "') TO '" + copy
                    + "' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1048576)");
        } catch (SQLException e) {
            throw new IOException(e);
        }
        System.out.printf(
                Locale.ROOT,
                "DuckDB COPY of the same rows in the same order: %.1f s wall, %.1f s CPU, %.2f times the size%n",
                (System.nanoTime() - before) / 1e9,
                (cpuNanos() - cpuBefore) / 1e9,
                (double) Files.size(copy) / Files.size(recording));
    }

    /// Moves all events behind the last one; returns by how much.
    private static long later(List<Batch> batches) {
        int ts = 2;
        long first = Long.MAX_VALUE;
        long last = 0;
        for (Batch batch : batches) {
            first = Math.min(first, Arrays.stream(batch.values(ts), 0, batch.rows()).min().orElse(first));
            last = Math.max(last, Arrays.stream(batch.values(ts), 0, batch.rows()).max().orElse(last));
        }
        for (Batch batch : batches) {
            for (int row = 0; row < batch.rows(); row++) {
                batch.values(ts)[row] += last - first;
            }
        }
        return last - first;
    }

    /// Threads walk programs of 40 calls; the next event is that of the thread whose call ends first.
    private static List<Batch> batches(Texts texts, int count) {
        SplittableRandom random = new SplittableRandom(1);
        int threads = 57;
        long[] now = new long[threads];
        int[] place = new int[threads];
        int[][] programs = new int[threads][40];
        for (int t = 0; t < threads; t++) {
            now[t] = 1_767_225_600_000_000_000L + random.nextInt(100_000);
            int role = t % 8;
            for (int p = 0; p < 40; p++) {
                programs[t][p] = new SplittableRandom(role * 100L + p).nextInt(300);
            }
        }
        List<Batch> batches = new ArrayList<>();
        for (int b = 0; b < count; b++) {
            Batch batch = new Batch(COLUMNS, BATCH);
            while (!batch.isFull()) {
                int t = earliest(now);
                int name = programs[t][place[t]++ % 40];
                long dur = Math.round(Math.exp(9 + name % 7 * 0.3 + random.nextGaussian() * 0.6));
                add(batch, texts, t, name, now[t], dur, random);
                now[t] += dur + 2_000 + random.nextInt(4_000);
            }
            batches.add(batch);
        }
        return batches;
    }

    private static void add(Batch batch, Texts texts, int t, int name, long start, long dur, SplittableRandom random) {
        int kind = name % 4;
        batch.addRow();
        batch.put(0, texts.id(KINDS[kind]));
        batch.put(1, texts.id("call " + name));
        batch.put(2, start);
        batch.put(3, dur);
        batch.put(4, 1000 + t / 8 * 8);
        batch.put(5, 1000 + t);
        batch.put(6, random.nextInt(20) == 0 ? random.nextInt(16) : t % 16);
        batch.put(7, texts.id(COMMS[t % 3]));
        if (kind == 0) {
            batch.put(10, 0);
            batch.put(12, 3 + name % 9);
            batch.put(13, name % 3 == 0 ? 65_536 : random.nextInt(200_000));
        }
        if (kind == 1) {
            batch.put(10, 0);
            batch.put(14, 0x7f00_0000_0000L + t * 4096L + name * 64L);
        }
    }

    private static int earliest(long[] now) {
        int earliest = 0;
        for (int t = 1; t < now.length; t++) {
            earliest = now[t] < now[earliest] ? t : earliest;
        }
        return earliest;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static Column text(String name) {
        return new Column(name, ColumnType.VARCHAR, "", "");
    }

    private static Column number(String name, String unit) {
        return new Column(name, ColumnType.BIGINT, unit, "");
    }
}
