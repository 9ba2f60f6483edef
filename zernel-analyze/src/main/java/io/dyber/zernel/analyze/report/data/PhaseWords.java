package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import java.util.List;

/// What phases are called: a job that never used a GPU has no phase of that name. The view `phase_words` decides.
public record PhaseWords(List<Table.Row> rows) {
    public static PhaseWords of(Report report) {
        Table words = report.sections().get("phase_words");
        return new PhaseWords(words == null ? List.of() : words.rows());
    }

    public static PhaseWords of(Report report, Table.Row thread) {
        return new PhaseWords(of(report).rows().stream()
                .filter(row -> row.integer("recording") == thread.integer("recording")
                        && row.integer("pid") == thread.integer("pid"))
                .toList());
    }

    /// Its name in tables and pictures.
    public String label(String phase) {
        return text(phase, "label", phase);
    }

    /// Its name in a sentence.
    public String words(String phase) {
        return text(phase, "words", phase);
    }

    /// Whether it is known that nothing of the job ran on a GPU.
    public boolean onCpuOnly() {
        return !rows.isEmpty() && rows.stream().noneMatch(row -> row.flag("on_gpu"));
    }

    /// Whether they are of the process of a row with `recording` and `pid`.
    boolean areOf(Table.Row row) {
        return rows.stream()
                .anyMatch(words -> words.integer("recording") == row.integer("recording")
                        && words.integer("pid") == row.integer("pid"));
    }

    /// Processes of one job mostly compute on the same; where they do not, those with a GPU name the phase.
    private String text(String phase, String column, String otherwise) {
        boolean onGpu = !onCpuOnly();
        return rows.stream()
                .filter(row -> phase.equals(row.text("phase")) && row.flag("on_gpu") == onGpu)
                .findFirst()
                .map(row -> row.requiredText(column))
                .orElse(otherwise);
    }
}
