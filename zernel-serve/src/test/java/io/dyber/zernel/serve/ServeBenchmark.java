package io.dyber.zernel.serve;

import com.sun.management.OperatingSystemMXBean;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.analysis.Analysis;
import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.http.Gzip;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Sources;
import io.dyber.zernel.serve.source.Speed;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;

/// What a scrape of 12,000 series costs, and how fast a recording is taken in at `--speed max`; then [ClientsBenchmark].
final class ServeBenchmark {
    private static final int PIDS = 200;
    private static final int ROUNDS = 200;
    private static final int EVENTS_PER_STEP = 333;
    private static final long MS = 1_000_000;
    private static final long START = 1_700_000_000_000L * MS;
    private static final List<String> SPANS =
            List.of("cuda_launch", "cuda_sync", "cuda_copy", "nccl", "backward", "dist_wait", "io", "wait", "call");

    private ServeBenchmark() {}

    /// Without arguments prints the tables; with a recording, rows of the second; with
    /// `scrape`, the first.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length == 1 && arguments[0].equals("scrape")) {
            scrape();
            return;
        }
        if (arguments.length == 1) {
            ingest(Path.of(arguments[0]));
            return;
        }
        if (!List.of("all", "serve").contains(System.getProperty("bench", "all"))) {
            return;
        }
        scrape();
        System.out.println();
        System.out.println("| events | way | wall ms | CPU ms | events/s | events/s of CPU |");
        System.out.println("|---:|---|---:|---:|---:|---:|");
        for (String millions : System.getProperty("bench.events", "1,10").split(",")) {
            run(List.of(ServeBenchmark.class.getName(),
                    recording(Long.parseLong(millions.strip()) * 1_000_000).toString()));
        }
        System.out.println();
        ClientsBenchmark.main(new String[0]);
    }

    /// Both writers in turns, on the same series.
    private static void scrape() throws IOException {
        LiveMetrics live = new LiveMetrics(PIDS, new Inferences(true), new Alerting(AlertRules.defaults(), _ -> {}));
        SplittableRandom random = new SplittableRandom(1);
        List<Scrapes> ways = List.of(
                new Scrapes("ours", ServeBenchmark::ours), new Scrapes("client_java", ServeBenchmark::clientJava));
        for (int round = 0; round < ROUNDS; round++) {
            long now = START + round * 1000L * MS;
            live.apply(oneOfEach(now, random));
            ways.get(round % 2).measure(live, now, round);
            ways.get(1 - round % 2).measure(live, now, round);
        }
        System.out.println("| writer | series | KiB | rounds | CPU ms: least | median | p90 | with gzip: least | median | wall ms: median |");
        System.out.println("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        ways.forEach(Scrapes::print);
    }

    /// Scrapes by one writer.
    private static final class Scrapes {
        private final String name;
        private final Writer writer;
        private final long[] walls = new long[ROUNDS];
        private final long[] cpus = new long[ROUNDS];
        private final long[] withGzip = new long[ROUNDS];
        private byte[] text = {};

        Scrapes(String name, Writer writer) {
            this.name = name;
            this.writer = writer;
        }

        void measure(LiveMetrics live, long now, int round) throws IOException {
            long cpu = threadCpu();
            long wall = System.nanoTime();
            text = writer.text(live, now);
            walls[round] = System.nanoTime() - wall;
            cpus[round] = threadCpu() - cpu;
            gzip(text);
            withGzip[round] = threadCpu() - cpu;
        }

        void print() {
            long series = new String(text, StandardCharsets.UTF_8).lines().filter(line -> !line.startsWith("#")).count();
            System.out.printf("| %s | %,d | %,d | %d | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |%n", name, series,
                    text.length / 1024, ROUNDS, quantile(cpus, 0), quantile(cpus, 0.5), quantile(cpus, 0.9),
                    quantile(withGzip, 0), quantile(withGzip, 0.5), quantile(walls, 0.5));
        }
    }

    private interface Writer {
        byte[] text(LiveMetrics live, long now) throws IOException;
    }

    /// An event of each kind of span in each process, every series of which is new since the last scrape.
    private static EventBatch oneOfEach(long now, SplittableRandom random) {
        Events events = new Events();
        for (int pid = 1; pid <= PIDS; pid++) {
            for (String kind : SPANS) {
                long nanos = (long) (5_000 * Math.exp(2 * random.nextGaussian()));
                events.add(kind, kind.equals("wait") ? "futex" : "ncclAllReduce", pid, now, nanos)
                        .with(LongColumn.BYTES, 4096);
            }
            events.add("region", "enumerate(DataLoader)#x", pid, now, MS);
        }
        return events.batch();
    }

    private static byte[] ours(LiveMetrics live, long now) {
        AtomicReference<String> text = new AtomicReference<>("");
        live.read(now, false, view -> text.set(Exposition.of(view, Exposition.Format.OPEN_METRICS)));
        return text.get().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] clientJava(LiveMetrics live, long now) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream(1 << 20);
        AtomicReference<MetricSnapshots> families = new AtomicReference<>(MetricSnapshots.of());
        live.read(now, false, view -> families.set(ClientJavaExposition.of(view)));
        ExpositionFormats.init().getOpenMetricsTextFormatWriter().write(body, families.get());
        return body.toByteArray();
    }

    private static void gzip(byte[] text) throws IOException {
        if (Gzip.of(text).length == 0) {
            throw new IllegalStateException("nothing compressed");
        }
    }

    private static void ingest(Path file) throws IOException, InterruptedException {
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (String way : List.of("read only", "and counted", "and alert rules")) {
            long rows = 0;
            long cpu = process.getProcessCpuTime();
            long wall = System.nanoTime();
            try (EventSource source = Sources.open(file, Replay.Options.at(Speed.MAX));
                    Analysis analysis = new Analysis(source, false)) {
                LiveMetrics live = new LiveMetrics(100, analysis.inferences(), way.equals("and alert rules")
                        ? new Alerting(AlertRules.defaults(), _ -> {})
                        : _ -> {});
                if (!way.equals("read only")) {
                    analysis.start();
                    analysis.awaitBegin();
                }
                Optional<EventBatch> batch = source.next();
                while (batch.isPresent()) {
                    rows += batch.get().rows();
                    if (!way.equals("read only")) {
                        live.apply(batch.get());
                    }
                    batch = source.next();
                }
            }
            wall = System.nanoTime() - wall;
            cpu = process.getProcessCpuTime() - cpu;
            System.out.printf("| %,d | %s | %,d | %,d | %,d | %,d |%n", rows, way, wall / MS, cpu / MS,
                    rows * 1_000_000_000 / wall, rows * 1_000_000_000 / cpu);
        }
    }

    /// A simulated training with about so many events, made once.
    private static Path recording(long events) throws IOException, InterruptedException {
        Path file = Path.of("target", "bench", "healthy-" + events + ".parquet");
        if (!Files.exists(file)) {
            Files.createDirectories(file.getParent());
            run(List.of("io.dyber.zernel.record.cli.Record", "--simulate=healthy", "--steps",
                    Long.toString(events / EVENTS_PER_STEP), "--quiet", "-o", file.toString()));
        }
        return file;
    }

    private static void run(List<String> main) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(main);
        System.out.flush();
        if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
            throw new IllegalStateException("ended with an error: " + main);
        }
    }

    private static long threadCpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static double quantile(long[] nanos, double quantile) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return sorted[(int) (quantile * (sorted.length - 1))] / 1e6;
    }
}
