package io.dyber.zernel.serve;

import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.source.JournalTraffic;
import io.dyber.zernel.serve.source.Tail;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/// What WebSocket clients cost a server that follows a recording, and how long an event takes until a client knows it.
final class ClientsBenchmark {
    private static final int SECONDS = Integer.getInteger("bench.seconds", 20);
    private static final long BATCH_NANOS = 250_000_000;

    private ClientsBenchmark() {}

    /// Prints two tables.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("zernel-bench");
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        MetricsServer.Options options = new MetricsServer.Options(
                InetAddress.getLoopbackAddress(), 0, 0, Duration.ofSeconds(1), 100, false, Optional.empty(), Set.of());
        try (JournalTraffic traffic = new JournalTraffic(live)) {
            traffic.start();
            try (MetricsServer server = MetricsServer.start(new Tail(folder.resolve("run.parquet")), options,
                    new Alerting(AlertRules.defaults(), _ -> {}))) {
                clients(server.webSocketPort());
                latency(server.webSocketPort(), traffic);
            }
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void clients(int port) throws IOException, InterruptedException {
        System.out.println("| clients | interval | KiB per snapshot | server, share of a core |");
        System.out.println("|---:|---:|---:|---:|");
        for (int number : new int[] {1, 1000}) {
            try (ManyClients clients = new ManyClients(port, number)) {
                Thread.sleep(3000);
                long bytes = clients.bytes();
                long cpu = serverCpuNanos();
                long wall = System.nanoTime();
                Thread.sleep(SECONDS * 1000L);
                double share = (double) (serverCpuNanos() - cpu) / (System.nanoTime() - wall);
                System.out.printf("| %,d | 1 s | %.1f | %.1f %% |%n",
                        number, (clients.bytes() - bytes) / 1024.0 / SECONDS / number, 100 * share);
            }
        }
        System.out.println();
    }

    /// Of the threads that read events, make snapshots and send them; not of the clients in this JVM.
    private static long serverCpuNanos() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(thread -> thread != null && isServers(thread))
                .mapToLong(thread -> threads.getThreadCpuTime(thread.getThreadId()))
                .sum();
    }

    private static boolean isServers(ThreadInfo thread) {
        return thread.getThreadName().startsWith("zernel-") || thread.getThreadName().startsWith("WebSocket");
    }

    /// Events happen evenly between two batches of the journal; ten of each are looked at.
    private static void latency(int port, JournalTraffic traffic) throws InterruptedException {
        TreeMap<Long, Long> arrivals = new TreeMap<>();
        JsonMapper json = new JsonMapper();
        try (WebSocketClient client = new WebSocketClient(port, null)) {
            for (int i = 0; i < 2 * SECONDS; i++) {
                long events = json.readTree(client.next()).at("/zernel/events").asLong();
                arrivals.putIfAbsent(events, System.nanoTime());
            }
        }
        long[] nanos = traffic.flushes().entrySet().stream()
                .filter(flush -> flush.getKey() > arrivals.firstKey() && flush.getKey() <= arrivals.lastKey())
                .flatMapToLong(flush -> ages(arrivals.ceilingEntry(flush.getKey()), flush))
                .sorted()
                .toArray();
        System.out.println("| events looked at | interval | median ms | p99 ms | largest ms |");
        System.out.println("|---:|---:|---:|---:|---:|");
        System.out.printf("| %,d | 1 s | %.0f | %.0f | %.0f |%n", nanos.length, nanos[nanos.length / 2] / 1e6,
                nanos[nanos.length * 99 / 100] / 1e6, nanos[nanos.length - 1] / 1e6);
    }

    private static LongStream ages(Map.Entry<Long, Long> arrival, Map.Entry<Long, Long> flush) {
        return LongStream.range(0, 10)
                .map(tenth -> arrival.getValue() - flush.getValue() + tenth * BATCH_NANOS / 10);
    }
}
