package io.dyber.zernel.serve.alert;

import io.dyber.zernel.serve.alert.AlertRule.Action;
import io.dyber.zernel.serve.alert.AlertRule.Comparison;
import io.dyber.zernel.serve.alert.AlertRule.Severity;
import io.dyber.zernel.serve.alert.AlertRules.RuleFileException;
import io.dyber.zernel.serve.metric.FleetMetrics;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/// Reads a rule file and says everything that is wrong with it, by line.
final class RuleFile {
    private static final List<String> FILE_KEYS = List.of("rules", "webhook");
    private static final List<String> RULE_KEYS = List.of("name", "metric", "labels", "comparison", "threshold", "for",
            "severity", "action", "summary");
    private static final List<String> WEBHOOK_KEYS = List.of("url", "payload", "timeout", "retries");

    private final YamlFile yaml;
    private final Set<String> names = new HashSet<>();

    private RuleFile(YamlFile yaml) {
        this.yaml = yaml;
    }

    static AlertRules parse(String fileName, String text) throws RuleFileException {
        YamlFile yaml = new YamlFile(fileName);
        AlertRules rules = yaml.root(text)
                .map(root -> new RuleFile(yaml).file(root))
                .orElseGet(() -> new AlertRules(List.of(), Optional.empty()));
        if (!yaml.faults().isEmpty()) {
            throw new RuleFileException(yaml.faults());
        }
        return rules;
    }

    private AlertRules file(Node root) {
        Map<String, Node> file = yaml.mapping(root, "a rule file", FILE_KEYS);
        Optional<Webhook.Options> webhook = Optional.ofNullable(file.get("webhook")).map(this::webhook);
        Node list = yaml.required(file, "rules", root);
        List<AlertRule> rules = new ArrayList<>();
        for (Node item : list == null ? List.<Node>of() : yaml.list(list, "rules")) {
            rule(item, file.containsKey("webhook")).ifPresent(rules::add);
        }
        return new AlertRules(rules, webhook);
    }

    private Optional<AlertRule> rule(Node node, boolean hasWebhook) {
        Map<String, Node> keys = yaml.mapping(node, "a rule", RULE_KEYS);
        if (keys.isEmpty()) {
            return Optional.empty();
        }
        String name = name(yaml.required(keys, "name", node));
        Optional<Metric> metric = metric(yaml.required(keys, "metric", node));
        Map<String, String> labels = new LinkedHashMap<>();
        metric.ifPresent(known -> labels.putAll(labels(keys.get("labels"), known, node)));
        Comparison comparison = comparison(yaml.required(keys, "comparison", node));
        double threshold = yaml.number(yaml.required(keys, "threshold", node));
        Duration holdFor = yaml.duration(keys.get("for"), Duration.ZERO);
        Severity severity = yaml.choice(keys.get("severity"), "severity", Severity.WARNING);
        Set<Action> actions = actions(keys.get("action"), hasWebhook);
        String summary = keys.containsKey("summary") ? yaml.text(keys.get("summary")) : "";
        return metric.map(known -> new AlertRule(
                name, known, Map.copyOf(labels), comparison, threshold, holdFor, severity, actions, summary));
    }

    private String name(@Nullable Node node) {
        String name = yaml.text(node);
        if (node != null && name.isBlank()) {
            yaml.fault(node, "a rule's name is empty");
        } else if (node != null && !names.add(name)) {
            yaml.fault(node, "there are two rules '" + name + "'");
        }
        return name;
    }

    private Optional<Metric> metric(@Nullable Node node) {
        String name = yaml.text(node);
        List<Metric> all = Stream.concat(Metrics.ALL.stream(), FleetMetrics.ALL.stream()).toList();
        Optional<Metric> metric = all.stream().filter(one -> one.name().equals(name)).findFirst();
        if (node != null && metric.isEmpty()) {
            yaml.fault(node, "no metric is called '" + name + "'"
                    + YamlFile.meant(name, all.stream().map(Metric::name).toList()));
        }
        return metric;
    }

    private Map<String, String> labels(@Nullable Node node, Metric metric, Node rule) {
        boolean summary = metric.type() == Metric.Type.SUMMARY;
        List<String> known = new ArrayList<>(metric.allLabels());
        if (summary) {
            known.add(AlertRule.QUANTILE);
        }
        Map<String, String> labels = new LinkedHashMap<>();
        if (node != null) {
            yaml.mapping(node, "labels of " + metric.name(), known)
                    .forEach((label, value) -> labels.put(label, yaml.text(value)));
        }
        String quantile = labels.get(AlertRule.QUANTILE);
        if (summary && (quantile == null || !Metrics.QUANTILES.contains(quantile))) {
            yaml.fault(node == null ? rule : node, metric.name() + " is a summary: say which of its quantiles, labels: "
                    + "{quantile: \"0.5\"} or {quantile: \"0.99\"}");
        }
        return labels;
    }

    private Comparison comparison(@Nullable Node node) {
        Optional<Comparison> comparison = Comparison.of(yaml.text(node));
        if (node != null && comparison.isEmpty()) {
            yaml.fault(node, "'" + yaml.text(node) + "' compares nothing; there are "
                    + String.join(" ", Arrays.stream(Comparison.values()).map(Comparison::sign).toList()));
        }
        return comparison.orElse(Comparison.ABOVE);
    }

    private Set<Action> actions(@Nullable Node node, boolean hasWebhook) {
        Set<Action> actions = EnumSet.noneOf(Action.class);
        for (Node item : node == null ? List.<Node>of() : yaml.oneOrMore(node)) {
            Action action = yaml.choice(item, "action", Action.LOG);
            if (action == Action.WEBHOOK && !hasWebhook) {
                yaml.fault(item, "the action is webhook, but the file has no webhook: {url: ...}");
            }
            actions.add(action);
        }
        return actions.isEmpty() ? EnumSet.of(Action.LOG) : actions;
    }

    private Webhook.Options webhook(Node node) {
        Map<String, Node> keys = yaml.mapping(node, "webhook", WEBHOOK_KEYS);
        Duration timeout = yaml.duration(keys.get("timeout"), Duration.ofSeconds(5));
        if (timeout.isZero()) {
            yaml.fault(keys.get("timeout"), "a timeout is more than 0");
        }
        return new Webhook.Options(
                url(yaml.required(keys, "url", node)),
                yaml.choice(keys.get("payload"), "payload", AlertPayload.ZERNEL),
                timeout,
                keys.containsKey("retries") ? (int) yaml.number(keys.get("retries")) : 5);
    }

    private URI url(@Nullable Node node) {
        String text = yaml.text(node);
        try {
            URI url = URI.create(text);
            String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
            if (node != null && (url.getHost() == null || !List.of("http", "https").contains(scheme))) {
                yaml.fault(node, "'" + text + "' is not a http or https URL");
            }
            return url;
        } catch (IllegalArgumentException _) {
            yaml.fault(node, "'" + text + "' is not a http or https URL");
            return URI.create("");
        }
    }
}
