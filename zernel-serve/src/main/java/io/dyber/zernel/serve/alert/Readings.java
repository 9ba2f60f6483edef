package io.dyber.zernel.serve.alert;

import io.dyber.zernel.serve.metric.Metric;
import java.util.List;
import java.util.Map;
import java.util.function.ObjDoubleConsumer;

/// The values of all series at one moment.
public interface Readings {
    /// The names and values of the labels that a series with these label values shows.
    Map<String, String> labels(Metric metric, List<String> values);

    /// Gives the label values of each series of a gauge or counter, and its value.
    void numbers(Metric metric, ObjDoubleConsumer<List<String>> series);

    /// Gives the label values of each series of a summary, and its quantile over the last minute in seconds.
    void quantiles(Metric metric, double quantile, ObjDoubleConsumer<List<String>> series);
}
