package io.dyber.zernel.serve.otlp;

import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.metric.Metrics;
import io.opentelemetry.exporter.otlp.http.logs.OtlpHttpLogRecordExporter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Pushes what is served to an OpenTelemetry Collector, by OTLP over HTTP: all metrics at each interval, and findings and
/// alerts as logs when there are new ones. A thread of its own does that, one push after the other, so a Collector that
/// is slow or not there holds nobody up.
public final class Otlp implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Otlp.class.getName());
    /// What OpenTelemetry's library says itself, we say in a line of ours; held here so that it stays silent.
    private static final java.util.logging.Logger LIBRARY = java.util.logging.Logger.getLogger("io.opentelemetry");
    private static final String SCOPE = "io.dyber.zernel";
    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(10);
    private static final Duration LAST_PUSH = Duration.ofSeconds(5);

    private final OtlpTarget target;
    private final Duration longestAnswer;
    private final Live live;
    private final Supplier<Findings> findings;
    private final Resource resource;
    private final InstrumentationScopeInfo scope = InstrumentationScopeInfo.create(SCOPE);
    private final OtlpLogs logs;
    private final OtlpHttpMetricExporter metricExporter;
    private final OtlpHttpLogRecordExporter logExporter;
    private final OtlpDelivery metricDelivery;
    private final OtlpDelivery logDelivery;
    private final List<LogRecordData> undelivered = new ArrayList<>();
    private final Instant started = Instant.now();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;

    /// Where the values are.
    @FunctionalInterface
    public interface Live {
        /// Lets `reader` look at them while nothing changes.
        void read(Consumer<LiveMetrics.View> reader);
    }

    private Otlp(
            OtlpTarget target, OtlpIdentity identity, Live live, Supplier<Findings> findings, Duration longestAnswer) {
        LIBRARY.setLevel(java.util.logging.Level.OFF);
        this.target = target;
        this.longestAnswer = longestAnswer;
        this.live = live;
        this.findings = findings;
        this.resource = identity.resource();
        this.logs = new OtlpLogs(resource, SCOPE);
        this.metricExporter = metricExporter();
        this.logExporter = logExporter();
        this.metricDelivery = new OtlpDelivery("metrics", target.endpoint("metrics"), target.log());
        this.logDelivery = new OtlpDelivery("logs", target.endpoint("logs"), target.log());
        this.thread = Thread.ofPlatform().daemon().name("zernel-otlp").unstarted(this::pushAll);
    }

    /// Pushes until closed.
    public static Otlp start(OtlpTarget target, OtlpIdentity identity, Live live, Supplier<Findings> findings) {
        return start(target, identity, live, findings, LONGEST_ANSWER);
    }

    /// @param longestAnswer how long to wait for an answer
    static Otlp start(
            OtlpTarget target, OtlpIdentity identity, Live live, Supplier<Findings> findings, Duration longestAnswer) {
        Otlp otlp = new Otlp(target, identity, live, findings, longestAnswer);
        otlp.thread.start();
        return otlp;
    }

    /// Pushes the alert soon; never waits.
    public void tell(Alert alert) {
        logs.tell(alert);
    }

    /// Adds the series about pushing.
    public void export(SeriesTable series) {
        series.number(Metrics.OTLP_FAILURES, List.of("metrics", "failed")).value = metricDelivery.failures();
        series.number(Metrics.OTLP_FAILURES, List.of("logs", "failed")).value = logDelivery.failures();
        series.number(Metrics.OTLP_FAILURES, List.of("logs", "dropped")).value = logs.dropped();
    }

    /// Whether there still is who pushes.
    public boolean works() {
        return thread.isAlive();
    }

    /// Pushes the last values, for which there are a few seconds.
    @Override
    public void close() {
        closing.countDown();
        try {
            thread.join(LAST_PUSH);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
        metricExporter.shutdown();
        logExporter.shutdown();
    }

    private void pushAll() {
        try {
            boolean last = false;
            while (!last) {
                last = closing.await(target.interval().toMillis(), TimeUnit.MILLISECONDS);
                push();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void push() {
        try {
            List<MetricData> metrics = new ArrayList<>();
            live.read(view -> metrics.addAll(OtlpMetrics.of(view, resource, scope, started)));
            OtlpDelivery.Outcome _ = metricDelivery.await(metricExporter.export(metrics), longestAnswer);
            logs.tell(findings.get());
            pushLogs();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "pushing to '" + target.base() + "'", e);
        }
    }

    /// In batches, in order; one that did not arrive is the first of the next push, unless it was refused.
    private void pushLogs() {
        while (true) {
            if (undelivered.isEmpty()) {
                logs.drainTo(undelivered);
            }
            if (undelivered.isEmpty()) {
                return;
            }
            switch (logDelivery.await(logExporter.export(List.copyOf(undelivered)), longestAnswer)) {
                case TAKEN -> {}
                case REFUSED -> logs.drop(undelivered.size());
                case NOT_YET -> {
                    return;
                }
            }
            undelivered.clear();
        }
    }

    private OtlpHttpMetricExporter metricExporter() {
        return OtlpHttpMetricExporter.builder()
                .setEndpoint(target.endpoint("metrics"))
                .setHeaders(target::headers)
                .setCompression("gzip")
                .setTimeout(longestAnswer)
                .setConnectTimeout(longestAnswer)
                .setRetryPolicy(null)
                .build();
    }

    private OtlpHttpLogRecordExporter logExporter() {
        return OtlpHttpLogRecordExporter.builder()
                .setEndpoint(target.endpoint("logs"))
                .setHeaders(target::headers)
                .setCompression("gzip")
                .setTimeout(longestAnswer)
                .setConnectTimeout(longestAnswer)
                .setRetryPolicy(null)
                .build();
    }
}
