package io.dyber.zernel.serve.alert;

import io.dyber.zernel.serve.metric.Metric;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A condition on the series of a metric that the user wants to know of.
///
/// @param labels the values that a series must have; of a summary also its `quantile`
/// @param holdFor how long the condition must hold before the alert fires
/// @param summary one sentence for people; may be empty
public record AlertRule(
        String name,
        Metric metric,
        Map<String, String> labels,
        Comparison comparison,
        double threshold,
        Duration holdFor,
        Severity severity,
        Set<Action> actions,
        String summary) {
    /// The label that chooses a quantile of a summary.
    static final String QUANTILE = "quantile";

    /// How a value is compared with the threshold. What is not a number meets no condition.
    public enum Comparison {
        ABOVE(">"),
        AT_LEAST(">="),
        BELOW("<"),
        AT_MOST("<="),
        EQUAL("=="),
        NOT_EQUAL("!=");

        private final String sign;

        Comparison(String sign) {
            this.sign = sign;
        }

        public String sign() {
            return sign;
        }

        boolean holds(double value, double threshold) {
            return !Double.isNaN(value) && switch (this) {
                case ABOVE -> value > threshold;
                case AT_LEAST -> value >= threshold;
                case BELOW -> value < threshold;
                case AT_MOST -> value <= threshold;
                case EQUAL -> value == threshold;
                case NOT_EQUAL -> value != threshold;
            };
        }

        static Optional<Comparison> of(String sign) {
            return Stream.of(values()).filter(one -> one.sign.equals(sign)).findFirst();
        }
    }

    /// How bad it is.
    public enum Severity {
        INFO,
        WARNING,
        CRITICAL;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// Who is told. None of them runs a command.
    public enum Action {
        /// A line on stderr.
        LOG,
        /// An HTTP POST to the URL of the rule file.
        WEBHOOK
    }

    /// What Prometheus calls the condition.
    public String expression() {
        return metric.name() + selector(labels) + condition();
    }

    /// The same where durations are histograms: the quantile is that of the last minute, as it is in a summary.
    String histogramExpression() {
        String quantile = labels.get(QUANTILE);
        if (quantile == null) {
            return expression();
        }
        Map<String, String> others = new HashMap<>(labels);
        others.remove(QUANTILE);
        return "histogram_quantile(" + quantile + ", rate(" + metric.name() + "_bucket" + selector(others) + "[1m]))"
                + condition();
    }

    private String condition() {
        return " " + comparison.sign() + " " + plain(threshold);
    }

    private static String selector(Map<String, String> labels) {
        String selector = labels.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(label -> label.getKey() + "=\"" + label.getValue().replace("\\", "\\\\").replace("\"", "\\\"") + "\"")
                .collect(Collectors.joining(","));
        return selector.isEmpty() ? "" : "{" + selector + "}";
    }

    /// A number as people write it: `5`, `0.95`.
    static String plain(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : Double.toString(value);
    }
}
