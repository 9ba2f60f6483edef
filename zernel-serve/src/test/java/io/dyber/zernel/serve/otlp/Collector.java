package io.dyber.zernel.serve.otlp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;

/// A receiver of OTLP over HTTP, which reads requests with OpenTelemetry's own protobuf classes.
public final class Collector implements AutoCloseable {
    private final HttpServer server;
    private final BlockingQueue<ExportMetricsServiceRequest> metrics = new LinkedBlockingQueue<>();
    private final BlockingQueue<ExportLogsServiceRequest> logs = new LinkedBlockingQueue<>();
    private final BlockingQueue<Map<String, List<String>>> headers = new LinkedBlockingQueue<>();
    private final AtomicInteger status = new AtomicInteger(200);
    private final AtomicInteger pushes = new AtomicInteger();
    private final CountDownLatch open = new CountDownLatch(1);

    private Collector(HttpServer server) {
        this.server = server;
    }

    /// Listens on this machine.
    ///
    /// @param port 0 takes a free one
    public static Collector start(int port) {
        Collector collector = new Collector(listening(port));
        collector.server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        collector.server.createContext("/v1/metrics", exchange -> {
            collector.metrics.addAll(collector.take(exchange, ExportMetricsServiceRequest::parseFrom));
            collector.pushes.incrementAndGet();
        });
        collector.server.createContext("/v1/logs", exchange -> collector.logs.addAll(
                collector.take(exchange, ExportLogsServiceRequest::parseFrom)));
        collector.server.createContext("/never/v1/", _ -> collector.awaitClose());
        collector.server.start();
        return collector;
    }

    private static HttpServer listening(int port) {
        try {
            return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private interface Parser<R> {
        R parse(InputStream body) throws IOException;
    }

    /// The request, if it is taken.
    private <R> List<R> take(HttpExchange exchange, Parser<R> parser) throws IOException {
        headers.add(exchange.getRequestHeaders());
        boolean zipped = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
        InputStream body = exchange.getRequestBody();
        R request = parser.parse(zipped ? new GZIPInputStream(body) : body);
        int answer = status.get();
        exchange.sendResponseHeaders(answer, -1);
        exchange.close();
        return answer == 200 ? List.of(request) : List.of();
    }

    /// From now on every request gets this status.
    public void answer(int newStatus) {
        status.set(newStatus);
    }

    public URI base() {
        return URI.create("http://127.0.0.1:" + port());
    }

    /// Under which no request is answered.
    public URI silentBase() {
        return URI.create(base() + "/never");
    }

    public int port() {
        return server.getAddress().getPort();
    }

    /// Waits until metrics were pushed so often again.
    public void awaitPushes(int count) throws InterruptedException {
        int until = pushes.get() + count;
        while (pushes.get() < until) {
            Thread.sleep(5);
        }
    }

    /// The next push of metrics.
    public ExportMetricsServiceRequest nextMetrics() throws InterruptedException {
        return metrics.take();
    }

    /// The last of all pushes of metrics so far.
    public ExportMetricsServiceRequest lastMetrics() {
        return List.copyOf(metrics).getLast();
    }

    /// The next push of logs.
    public ExportLogsServiceRequest nextLogs() throws InterruptedException {
        return logs.take();
    }

    /// All log records that were pushed and not taken yet.
    public List<LogRecord> records() {
        return logs.stream().flatMap(request -> records(request).stream()).toList();
    }

    /// The headers of the next request.
    public Map<String, List<String>> nextHeaders() throws InterruptedException {
        return headers.take();
    }

    static List<Metric> families(ExportMetricsServiceRequest request) {
        return request.getResourceMetrics(0).getScopeMetrics(0).getMetricsList();
    }

    /// The family of this name.
    public static Metric family(ExportMetricsServiceRequest request, String name) {
        return families(request).stream()
                .filter(metric -> metric.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    public static List<LogRecord> records(ExportLogsServiceRequest request) {
        return request.getResourceLogs(0).getScopeLogs(0).getLogRecordsList();
    }

    /// Texts by their names; a number as Java writes it.
    public static Map<String, String> attributes(List<KeyValue> attributes) {
        Map<String, String> texts = new TreeMap<>();
        attributes.forEach(one -> texts.put(one.getKey(), one.getValue().hasDoubleValue()
                ? Double.toString(one.getValue().getDoubleValue())
                : one.getValue().getStringValue()));
        return texts;
    }

    @Override
    public void close() {
        open.countDown();
        server.stop(0);
    }

    private void awaitClose() {
        try {
            open.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
