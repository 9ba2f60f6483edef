package io.dyber.zernel.serve.live;

import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads the values of a metric's labels from an event, by the labels' names.
final class EventLabels {
    private static final String UNKNOWN = "unknown";
    private static final Pattern HUMP = Pattern.compile("(?<=[a-z])(?=[A-Z])");

    private final PidLabels pids;
    private final Workers workers;

    EventLabels(PidLabels pids, Workers workers) {
        this.pids = pids;
        this.workers = workers;
    }

    List<String> of(Metric metric, EventBatch batch, int row) {
        List<String> values = new ArrayList<>(metric.labels().size());
        for (String label : metric.labels()) {
            values.add(label.equals("pid") ? pid(metric, batch, row) : value(label, batch, row));
        }
        return values;
    }

    private String value(String label, EventBatch batch, int row) {
        return switch (label) {
            case "gpu_id" -> gpu(batch, row);
            case "pipe" -> orUnknown(batch.text(TextColumn.NAME, row)).replace("_active", "");
            case "op" -> operation(batch.text(TextColumn.NAME, row));
            case "name" -> orUnknown(batch.text(TextColumn.NAME, row));
            case "kind" -> orUnknown(batch.text(TextColumn.KIND, row));
            case "copy_kind" -> orUnknown(batch.text(TextColumn.COPY_KIND, row));
            default -> throw new IllegalArgumentException("no event has a label " + label);
        };
    }

    /// What is counted of a worker counts for the process it works for.
    private String pid(Metric metric, EventBatch batch, int row) {
        long pid = batch.number(LongColumn.PID, row, 0);
        return pids.label(metric.isSampled() ? pid : workers.ownerOf(pid));
    }

    /// A device, or as `1/3` an instance of it.
    private static String gpu(EventBatch batch, int row) {
        String device = Long.toString(batch.number(LongColumn.DEVICE, row, 0));
        String instance = batch.text(TextColumn.OBJECT, row);
        return instance == null ? device : device + "/" + instance;
    }

    /// zerneld's name of a collective: `all_reduce` for `ncclAllReduce`.
    static String operation(@Nullable String function) {
        if (function == null) {
            return UNKNOWN;
        }
        String name = function.startsWith("nccl") ? function.substring("nccl".length()) : function;
        return HUMP.matcher(name).replaceAll("_").toLowerCase(Locale.ROOT);
    }

    private static String orUnknown(@Nullable String text) {
        return text == null ? UNKNOWN : text;
    }
}
