package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Table;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Everything that a report says, before it gets a form.
///
/// @param sections library views by name, whole; their columns are documented in the views' files
/// @param diagnosis what the findings say
public record Report(Map<String, Table> sections, Diagnosis diagnosis) {
    /// The views that a report holds, in order.
    static final List<String> SECTIONS = List.of(
            "recordings",
            "kinds",
            "losses",
            "training_threads",
            "phases",
            "phase_parts",
            "step_curve",
            "data_wait_by_epoch",
            "worker_crews",
            "gpus",
            "gpu_usage",
            "launches",
            "copies",
            "syncs",
            "memory_use",
            "memory_curve",
            "collectives",
            "late_ranks",
            "dist_waits",
            "preemption",
            "marks",
            "probes",
            "overhead",
            "overhead_by_process",
            "percentiles",
            "processes");

    /// Queries a report.
    ///
    /// @throws io.dyber.zernel.analyze.RecordingException if the recordings have no events
    public static Report of(Database database) {
        database.requireEvents();
        Map<String, Table> sections = new LinkedHashMap<>();
        for (String view : SECTIONS) {
            sections.put(view, database.query("FROM " + view));
        }
        return new Report(sections, database.diagnose());
    }

    Table section(String name) {
        Table table = sections.get(name);
        if (table == null) {
            throw new IllegalArgumentException("no section '" + name + "'");
        }
        return table;
    }

    /// The rows of a section that are about one training thread.
    List<Table.Row> rowsOf(String section, Table.Row thread) {
        return section(section).rows().stream()
                .filter(row -> row.integer("recording") == thread.integer("recording")
                        && row.integer("pid") == thread.integer("pid")
                        && (!row.positions().containsKey("tid") || row.integer("tid") == thread.integer("tid")))
                .toList();
    }
}
