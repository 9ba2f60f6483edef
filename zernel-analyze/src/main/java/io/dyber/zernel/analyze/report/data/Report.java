package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.duckdb.Table;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Everything that a report says, before it gets a form.
///
/// @param sections library views by name, each whole; their columns are documented in the views' files
/// @param diagnosis what the findings say
public record Report(Map<String, Table> sections, Diagnosis diagnosis) {
    /// The views that a report may hold, in order.
    public static final List<String> SECTIONS = List.of(
            "recordings",
            "command_exits",
            "kinds",
            "losses",
            "training_threads",
            "processes_without_steps",
            "programs_without_steps",
            "lines_without_steps",
            "request_times",
            "phase_words",
            "phases",
            "phase_parts",
            "step_mean",
            "step_lines",
            "operator_samples",
            "thread_states",
            "evaluations",
            "step_timeline",
            "flame_graph",
            "hangs",
            "data_wait_by_epoch",
            "worker_crews",
            "gpus",
            "gpu_usage",
            "gpu_traces",
            "gpu_time",
            "gpu_idle_causes",
            "gpu_kernels",
            "gpu_curve",
            "launches",
            "copies",
            "syncs",
            "gpu_limit",
            "unknowns",
            "memory_use",
            "memory_curve",
            "collectives",
            "late_ranks",
            "critical_ranks",
            "rank_delays",
            "dist_waits",
            "preemption",
            "marks",
            "probes",
            "detail_windows",
            "detail_cost",
            "overhead",
            "system_call_cost",
            "overhead_by_process",
            "percentiles",
            "processes");

    /// As many views as all findings together count in the progress.
    private static final int FINDINGS = 10;

    /// Queries what a form of the report writes of.
    ///
    /// @param wanted names of [#SECTIONS]
    /// @param progress told what is being read, and how much of all has been
    /// @throws io.dyber.zernel.format.RecordingException if the recordings have no events
    public static Report of(Database database, List<String> wanted, Progress progress) {
        database.requireEvents();
        Map<String, Table> sections = new LinkedHashMap<>();
        for (String view : wanted) {
            progress.at(view, (double) sections.size() / (wanted.size() + FINDINGS));
            sections.put(view, database.query("FROM " + view));
        }
        progress.at("findings", (double) wanted.size() / (wanted.size() + FINDINGS));
        return new Report(sections, diagnose(database));
    }

    /// The form of a report without any content.
    ///
    /// @param database opened by [io.dyber.zernel.analyze.Recordings#none]
    public static Report empty(Database database) {
        Map<String, Table> sections = new LinkedHashMap<>();
        SECTIONS.forEach(view -> sections.put(view, database.query("FROM " + view)));
        return new Report(sections, new Diagnosis(List.of(), List.of()));
    }

    /// What the findings say, of inference in its own words.
    public static Diagnosis diagnose(Database database) {
        Table threads = database.query("FROM training_threads");
        return StepWords.of(Map.of("training_threads", threads)).in(database.diagnose());
    }

    /// Hears of long work.
    public interface Progress {
        /// Called before each part.
        ///
        /// @param what what begins now
        /// @param share of all that is done, 0 to 1
        void at(String what, double share);
    }

    /// What to fix first.
    public Verdict verdict() {
        return Verdict.of(this);
    }

    public Table section(String name) {
        Table table = sections.get(name);
        if (table == null) {
            throw new IllegalArgumentException("no section '" + name + "'");
        }
        return table;
    }

    /// What cannot be known, by question, each with what the events say of the first process: those of ranks are alike.
    public Map<String, String> unknowns() {
        Map<String, String> bounds = new LinkedHashMap<>();
        Set<String> asked = new HashSet<>();
        List<Table.Row> rows = section("unknowns").rows();
        for (Table.Row row : rows) {
            boolean several = rows.stream()
                            .filter(other -> row.requiredText("question").equals(other.text("question")))
                            .count()
                    > 1;
            if (asked.add(row.requiredText("question"))) {
                bounds.put(
                        row.requiredText("question") + (several ? " (pid " + row.text("pid") + ")" : ""),
                        row.requiredText("bounds"));
            }
        }
        return bounds;
    }

    /// The rows of a section that are about one training thread.
    public List<Table.Row> rowsOf(String section, Table.Row thread) {
        return section(section).rows().stream()
                .filter(row -> row.integer("recording") == thread.integer("recording")
                        && row.integer("pid") == thread.integer("pid")
                        && (!row.positions().containsKey("tid") || row.integer("tid") == thread.integer("tid")))
                .toList();
    }
}
