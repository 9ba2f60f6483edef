package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.table.Percentages;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// What a training thread did in its mean step by the scheduler: on a CPU, without one, or blocked on what.
final class StatesText {
    private static final Map<String, String> STATES = states();

    private StatesText() {}

    /// One line; empty where time off the CPU was not recorded, or the thread has no steps.
    static Optional<String> line(Report report, Table.Row thread) {
        if (!report.sections().containsKey("thread_states") || !isRecorded(report, thread)) {
            return Optional.empty();
        }
        return report.rowsOf("thread_states", thread).stream().findFirst().map(StatesText::text);
    }

    private static boolean isRecorded(Report report, Table.Row thread) {
        return report.section("kinds").rows().stream()
                .anyMatch(kind -> "sched".equals(kind.text("kind"))
                        && "attached".equals(kind.text("state"))
                        && kind.integer("recording") == thread.integer("recording"));
    }

    private static String text(Table.Row states) {
        List<String> columns = List.copyOf(STATES.keySet());
        List<String> percents = Percentages.summingTo100(
                columns.stream().map(column -> Math.round(value(states, column))).toList());
        return columns.stream()
                .filter(column -> !"0.0".equals(percents.get(columns.indexOf(column))))
                .sorted(Comparator.comparingDouble(column -> -value(states, column)))
                .map(column -> percents.get(columns.indexOf(column)) + " % " + STATES.get(column))
                .collect(Collectors.joining(" + "));
    }

    private static double value(Table.Row states, String column) {
        Double value = states.real(column);
        return value == null ? 0 : value;
    }

    private static Map<String, String> states() {
        Map<String, String> states = new LinkedHashMap<>();
        states.put("called_ns", "on a CPU in calls");
        states.put("between_ns", "on a CPU between calls");
        states.put("runnable_ns", "runnable, waiting for a CPU");
        states.put("storage_ns", "blocked on storage");
        states.put("socket_ns", "blocked on a socket or pipe");
        states.put("thread_ns", "blocked on another thread");
        states.put("process_ns", "blocked on another process");
        states.put("gpu_ns", "blocked on the GPU");
        states.put("collective_ns", "blocked on a collective");
        states.put("asleep_ns", "asleep by itself");
        states.put("unexplained_ns", "unexplained");
        return states;
    }
}
