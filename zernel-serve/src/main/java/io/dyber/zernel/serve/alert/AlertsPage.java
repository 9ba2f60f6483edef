package io.dyber.zernel.serve.alert;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/// What `/api/alerts` answers: the rules, the alerts that are pending or fire, and the latest changes.
public final class AlertsPage {
    private static final JsonMapper JSON = new JsonMapper();

    private AlertsPage() {}

    public static String json(AlertEngine engine) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("version", 1);
        json.put("rules", engine.rules().rules().stream().map(AlertsPage::rule).toList());
        json.put("alerts", engine.active().stream().map(AlertPayload::flat).toList());
        json.put("changes", engine.changes().stream().map(AlertPayload::flat).toList());
        return JSON.writeValueAsString(json);
    }

    private static Map<String, Object> rule(AlertRule rule) {
        List<String> actions = rule.actions().stream()
                .map(action -> action.name().toLowerCase(Locale.ROOT))
                .toList();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", rule.name());
        json.put("expression", rule.expression());
        json.put("for_seconds", rule.holdFor().toMillis() / 1e3);
        json.put("severity", rule.severity().label());
        json.put("actions", actions);
        json.put("summary", rule.summary());
        return json;
    }
}
