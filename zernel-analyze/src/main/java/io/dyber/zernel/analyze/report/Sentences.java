package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.CriticalPath;
import io.dyber.zernel.analyze.report.data.GpuActivity;
import io.dyber.zernel.analyze.report.data.PhaseWords;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.Standstill;
import io.dyber.zernel.analyze.report.data.StepWords;
import io.dyber.zernel.analyze.report.data.ThreadLabel;
import io.dyber.zernel.analyze.report.table.Quantity;
import io.dyber.zernel.analyze.report.text.StepsText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What the text says of threads and GPUs in sentences, as rows for the other forms.
final class Sentences {
    /// The columns, each with what it holds.
    static final Map<String, String> COLUMNS = columns();

    private final List<Table.Row> rows = new ArrayList<>();

    private Sentences() {}

    static Table of(Report report) {
        Sentences sentences = new Sentences();
        report.section("training_threads").rows().forEach(thread -> sentences.thread(report, thread));
        CriticalPath.of(report).ifPresent(path -> sentences.add("critical path", null, "Critical path", path));
        GpuActivity.of(report).forEach(fact -> sentences.add("GPU activity", null, fact.label(), fact.text()));
        report.unknowns().forEach((question, bounds) -> sentences.add("unknown", null, question, bounds));
        List<Table.Column> columns = COLUMNS.keySet().stream()
                .map(name -> new Table.Column(name, List.of("recording", "pid", "tid").contains(name) ? "BIGINT" : "VARCHAR"))
                .toList();
        return new Table(columns, List.copyOf(sentences.rows));
    }

    private void thread(Report report, Table.Row thread) {
        String label = new ThreadLabel(report).of(thread);
        report.rowsOf("step_mean", thread).forEach(mean -> add("mean step", thread, label,
                "Mean of " + Quantity.counted(mean.integer("steps"), StepWords.steady(thread)) + ", "
                        + Quantity.time(mean.integer("step_ns")) + ": wall time of the thread"
                        + (PhaseWords.of(report, thread).onCpuOnly() ? "." : " on the CPU, not GPU time.")));
        add("steps", thread, label, StepsText.steps(thread, "") + ".");
        StepsText.requests(report, thread).forEach(line -> add("requests", thread, label, line + "."));
        StepsText.evaluations(report, thread).forEach(line -> add("evaluation", thread, label, line + "."));
        Standstill.of(report, thread).ifPresent(one -> add("standstill", thread, label, one.sentence()));
    }

    private void add(String about, Table.@Nullable Row thread, String label, String text) {
        @Nullable Object[] values = {about, of(thread, "recording"), of(thread, "pid"), of(thread, "tid"), label, text};
        rows.add(new Table.Row(Map.of(), Arrays.asList(values)));
    }

    private static @Nullable Object of(Table.@Nullable Row thread, String column) {
        return thread == null ? null : thread.value(column);
    }

    private static Map<String, String> columns() {
        Map<String, String> columns = new LinkedHashMap<>();
        columns.put("about", "mean step, steps, requests, evaluation, standstill, critical path, GPU activity or unknown");
        columns.put("recording", "recording, of a sentence about a thread");
        columns.put("pid", "its process");
        columns.put("tid", "thread");
        columns.put("label", "what the thread or the GPU is called, or the question that is open");
        columns.put("text", "the sentence");
        return columns;
    }
}
