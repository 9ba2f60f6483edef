package io.dyber.zernel.serve.alert;

import io.dyber.zernel.serve.metric.Metric;
import java.util.List;
import java.util.function.ObjDoubleConsumer;

/// The values of all series at one moment.
public interface Readings {
    /// Gives the label values of each series of a gauge or counter, and its value.
    void numbers(Metric metric, ObjDoubleConsumer<List<String>> series);

    /// Gives the label values of each series of a summary, and its quantile over the last minute in seconds.
    void quantiles(Metric metric, double quantile, ObjDoubleConsumer<List<String>> series);
}
