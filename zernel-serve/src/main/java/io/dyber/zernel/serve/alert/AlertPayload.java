package io.dyber.zernel.serve.alert;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/// What a webhook is sent.
enum AlertPayload {
    /// One flat object.
    ZERNEL,
    /// What Alertmanager sends to the webhooks that it is configured with (version 4), for receivers that know it.
    ALERTMANAGER;

    private static final JsonMapper JSON = new JsonMapper();

    String json(Alert alert) {
        return JSON.writeValueAsString(switch (this) {
            case ZERNEL -> flat(alert);
            case ALERTMANAGER -> alertmanager(alert);
        });
    }

    /// The members of an alert, also for `/api/alerts`.
    static Map<String, Object> flat(Alert alert) {
        AlertRule rule = alert.rule();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("alert", rule.name());
        json.put("state", alert.state().label());
        json.put("severity", rule.severity().label());
        json.put("metric", rule.metric().name());
        json.put("labels", alert.labels());
        json.put("value", alert.value());
        json.put("comparison", rule.comparison().sign());
        json.put("threshold", rule.threshold());
        json.put("for_seconds", rule.holdFor().toMillis() / 1e3);
        json.put("since", Alert.instant(alert.sinceNanos()).toString());
        json.put("at", alert.at().toString());
        json.put("summary", rule.summary());
        return json;
    }

    private static Map<String, Object> alertmanager(Alert alert) {
        AlertRule rule = alert.rule();
        Map<String, String> labels = new LinkedHashMap<>(Map.of("alertname", rule.name()));
        labels.put("severity", rule.severity().label());
        labels.putAll(alert.labels());
        Map<String, String> annotations = Map.of("summary", rule.summary(), "description", alert.condition());
        boolean resolved = alert.state() == Alert.State.RESOLVED;
        String status = resolved ? "resolved" : "firing";

        Map<String, Object> one = new LinkedHashMap<>();
        one.put("status", status);
        one.put("labels", labels);
        one.put("annotations", annotations);
        one.put("startsAt", Alert.instant(alert.sinceNanos()).toString());
        one.put("endsAt", resolved ? alert.at().toString() : "0001-01-01T00:00:00Z");
        one.put("generatorURL", "");
        one.put("fingerprint", "%016x".formatted(fingerprint(labels)));

        Map<String, Object> json = new LinkedHashMap<>();
        json.put("version", "4");
        json.put("groupKey", "{}:{alertname=\"" + rule.name() + "\"}");
        json.put("truncatedAlerts", 0);
        json.put("status", status);
        json.put("receiver", "zernel");
        json.put("groupLabels", Map.of("alertname", rule.name()));
        json.put("commonLabels", labels);
        json.put("commonAnnotations", annotations);
        json.put("externalURL", "");
        json.put("alerts", List.of(one));
        return json;
    }

    /// The same for the same labels, so that a receiver knows what is resolved.
    private static long fingerprint(Map<String, String> labels) {
        List<String> names = new ArrayList<>(labels.keySet());
        names.sort(null);
        long hash = 0xcbf29ce484222325L;
        for (String name : names) {
            for (char letter : (name + '\0' + labels.get(name) + '\0').toCharArray()) {
                hash = (hash ^ letter) * 0x100000001b3L;
            }
        }
        return hash;
    }
}
