package io.dyber.zernel.serve.metric;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/// What every metric keeps to: the recipe of CONTRIBUTING.md.
///
/// @param constants by their names in [Metrics]
/// @param page `docs/metrics.md`
record MetricRules(Map<String, Metric> constants, List<Metrics.Group> groups, Map<String, String> labels, String page) {
    static MetricRules shipped(String page) {
        Map<String, Metric> constants = new TreeMap<>();
        List<Field> fields = Stream.of(Metrics.class, FleetMetrics.class).flatMap(type -> Stream.of(type.getFields())).toList();
        for (Field field : fields) {
            try {
                if (field.get(null) instanceof Metric metric) {
                    String of = field.getDeclaringClass() == Metrics.class ? "" : field.getDeclaringClass().getSimpleName() + ".";
                    constants.put(of + field.getName(), metric);
                }
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        return new MetricRules(constants, MetricsReference.groups(), Metrics.LABELS, page);
    }

    /// What is left out.
    List<String> breaches() {
        List<String> breaches = new ArrayList<>();
        List<Metric> listed = groups.stream().flatMap(group -> group.metrics().stream()).toList();
        constants.forEach((name, metric) -> {
            if (!listed.contains(metric)) {
                breaches.add("the constant " + name + " has no place in Metrics.GROUPS");
            }
        });
        Set<String> names = new HashSet<>();
        listed.forEach(metric -> check(metric, names.add(metric.name()), breaches));
        return breaches;
    }

    private void check(Metric metric, boolean isNew, List<String> breaches) {
        String name = metric.name();
        if (!isNew) {
            breaches.add(name + " is there twice");
        }
        if (!constants.containsValue(metric)) {
            breaches.add(name + " is no constant of Metrics");
        }
        if (!name.matches("zernel_[a-z_]+")) {
            breaches.add(name + " does not begin with zernel_, or is not of small letters and _");
        }
        if (name.endsWith("_total") != (metric.type() == Metric.Type.COUNTER)) {
            breaches.add(name + ": counters and only they end in _total");
        }
        if (name.endsWith("_info") != (metric.type() == Metric.Type.INFO)) {
            breaches.add(name + ": infos and only they end in _info");
        }
        if (!metric.help().matches("[A-Z1].{10,}\\.")) {
            breaches.add(name + ": its help is no sentence");
        }
        metric.allLabels().stream()
                .filter(label -> !labels.containsKey(label))
                .forEach(label -> breaches.add(name + ": Metrics.LABELS does not explain '" + label + "'"));
        if (!page.contains(MetricsReference.row(metric))) {
            breaches.add(name + ": docs/metrics.md does not say what Metrics says: -Dtest=MetricsTest -Dgolden.update");
        }
    }
}
