package io.dyber.zernel.serve.otlp;

import io.dyber.zernel.format.TimeText;
import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertRule;
import io.dyber.zernel.serve.analysis.Findings;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.logs.LogRecordBuilder;
import io.opentelemetry.api.logs.Logger;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.sdk.logs.SdkLoggerProvider;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Findings and alerts as log records, one when they appear and one when they change. What does not fit into the queue
/// is dropped and counted.
///
/// Alerts are told by any thread, findings by one.
final class OtlpLogs {
    static final int MOST_WAITING = 1000;

    private final BlockingQueue<LogRecordData> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
    private final AtomicLong dropped = new AtomicLong();
    private final Logger logger;
    private final Map<List<String>, Findings.Found> told = new HashMap<>();

    OtlpLogs(Resource resource, String scope) {
        this.logger = SdkLoggerProvider.builder()
                .setResource(resource)
                .addLogRecordProcessor((_, written) -> keep(written.toLogRecordData()))
                .build()
                .get(scope);
    }

    private void keep(LogRecordData written) {
        if (!waiting.offer(written)) {
            dropped.incrementAndGet();
        }
    }

    /// So many records were refused.
    void drop(int records) {
        dropped.addAndGet(records);
    }

    long dropped() {
        return dropped.get();
    }

    /// Takes all that wait.
    void drainTo(List<LogRecordData> records) {
        waiting.drainTo(records);
    }

    void tell(Alert alert) {
        AttributesBuilder attributes = OtlpMetrics.attributes(alert.labels()).toBuilder();
        attributes.put("alertname", alert.rule().name());
        attributes.put("alertstate", alert.state().label());
        attributes.put("metric", alert.rule().metric().name());
        boolean over = alert.state() == Alert.State.RESOLVED;
        record("zernel.alert", alert.at(), over ? Severity.INFO : severity(alert.rule().severity()), attributes)
                .setSeverityText(alert.rule().severity().label())
                .setBody((over ? "Resolved: " : "") + alert.sentence())
                .emit();
    }

    /// Writes what is new since they were told last.
    void tell(Findings findings) {
        Set<List<String>> known = new HashSet<>();
        for (Findings.Found found : findings.worstOfEach()) {
            List<String> about = List.of(found.name(), found.subject());
            known.add(about);
            Findings.Found before = told.get(about);
            if (before == null || isNews(before, found)) {
                told.put(about, found);
                tell(found, Instant.ofEpochMilli(findings.asOfMs()));
            }
        }
        told.keySet().retainAll(known);
    }

    /// Of a recording that grows, what is lost is a little different each time.
    private static boolean isNews(Findings.Found before, Findings.Found now) {
        return !before.severity().equals(now.severity())
                || !before.title().equals(now.title())
                || differs(before.lostMsPerStep(), now.lostMsPerStep());
    }

    /// By more than a tenth.
    private static boolean differs(@Nullable Double before, @Nullable Double now) {
        if (before == null || now == null) {
            return before != null || now != null;
        }
        return Math.abs(before - now) > 0.1 * Math.max(Math.abs(before), Math.abs(now));
    }

    private void tell(Findings.Found found, Instant at) {
        AttributesBuilder attributes = Attributes.builder();
        attributes.put("finding", found.name());
        attributes.put("subject", found.subject());
        Double lost = found.lostMsPerStep();
        if (lost != null) {
            attributes.put("lost_ms_per_step", lost);
        }
        attributes.put("evidence", found.evidence());
        attributes.put("advice", found.advice());
        attributes.put("next_command", found.nextCommand());
        record("zernel.finding", at, severity(found.severity()), attributes)
                .setSeverityText(found.severity())
                .setBody(sentence(found))
                .emit();
    }

    private static String sentence(Findings.Found found) {
        String title = found.title();
        Double lost = found.lostMsPerStep();
        return (title.endsWith(".") ? title.substring(0, title.length() - 1) : title) + " (" + found.subject() + ")"
                + (lost == null ? "" : ": loses " + TimeText.of(lost * 1e6) + " per step");
    }

    private LogRecordBuilder record(String event, Instant at, Severity severity, AttributesBuilder attributes) {
        return logger.logRecordBuilder()
                .setEventName(event)
                .setTimestamp(at)
                .setSeverity(severity)
                .setAllAttributes(attributes.build());
    }

    private static Severity severity(AlertRule.Severity severity) {
        return switch (severity) {
            case INFO -> Severity.INFO;
            case WARNING -> Severity.WARN;
            case CRITICAL -> Severity.ERROR;
        };
    }

    /// Of a finding, whose severity is a word of the analyzer.
    private static Severity severity(String severity) {
        return switch (severity) {
            case "high" -> Severity.ERROR;
            case "medium" -> Severity.WARN;
            default -> Severity.INFO;
        };
    }
}
