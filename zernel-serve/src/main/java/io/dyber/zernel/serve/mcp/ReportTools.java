package io.dyber.zernel.serve.mcp;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.report.Explanation;
import io.dyber.zernel.analyze.report.JsonReport;
import io.dyber.zernel.analyze.report.TextReport;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.Verdict;
import io.dyber.zernel.analyze.report.text.FindingsText;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.Threshold;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.Suggestion;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The tools that say what to fix, and what that rests on.
final class ReportTools {
    private static final int MOST_FINDINGS = 5;
    private static final int MOST_ROWS = 1_000;

    private ReportTools() {}

    static Tool overview(Database job) {
        return new Tool(
                "overview",
                "What to fix first",
                "The report on one screen: verdict, what was recorded, what a step consists of, the worst findings.",
                List.of(),
                _ -> Texts.answer(page -> {
                    TextReport form = new TextReport(page, false);
                    Report report = Report.of(job, form.sections(), (_, _) -> {});
                    form.write(report);
                    return overview(report);
                }));
    }

    private static Map<String, @Nullable Object> overview(Report report) {
        Verdict verdict = report.verdict();
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("verdict_kind", verdict.kind().name().toLowerCase(Locale.ROOT));
        members.put("verdict", verdict.sentence());
        members.put("reason", verdict.reason());
        Map<String, Rows> tables = new LinkedHashMap<>();
        tables.put("recordings", Rows.of(report.section("recordings"), MOST_ROWS, 3));
        tables.put("step_mean", Rows.of(report.section("step_mean"), MOST_ROWS, 3));
        tables.put("findings", Rows.of(JsonReport.table(report.diagnosis().findings()), MOST_FINDINGS, 3));
        members.putAll(Rows.members(tables));
        members.put("unknowns", report.unknowns());
        return members;
    }

    static Tool findings(Database job) {
        return new Tool(
                "findings",
                "List findings",
                "All findings, by what they lose at least: whom, how much, evidence, advice, the most that fixing can gain.",
                List.of(),
                _ -> Texts.answer(page -> {
                    job.requireEvents();
                    Diagnosis diagnosis = Report.diagnose(job);
                    if (diagnosis.findings().isEmpty()) {
                        page.line("no findings");
                    }
                    new FindingsText(page).write(diagnosis);
                    Map<String, @Nullable Object> members = findings(diagnosis.findings(), 1);
                    members.put("skipped", diagnosis.skippedText());
                    return members;
                }));
    }

    private static Map<String, @Nullable Object> findings(List<Finding> findings, int tables) {
        Rows rows = Rows.of(JsonReport.table(findings), MOST_ROWS, tables);
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("findings", rows.objects());
        members.put("cut", rows.cut());
        return members;
    }

    static Tool explain(Database job) {
        return new Tool(
                "explain",
                "Explain a finding or view",
                "Why a finding or view matters and when it does not apply, its thresholds, what it reads, its SQL, and a "
                        + "finding's rows.",
                List.of(Parameter.text("name", "As findings or views has it, e.g. data_bound.")),
                arguments -> {
                    SqlObject object = find(job, arguments.text("name"));
                    return Texts.answer(page -> {
                        new Explanation(page, job.library()).write(object);
                        Map<String, @Nullable Object> members = documented(object);
                        members.put("severity", object.keys().getOrDefault("severity", ""));
                        members.put("thresholds", Threshold.of(object));
                        members.put("reads", object.needs());
                        members.put("sql", object.sql());
                        if (object.role() == SqlObject.Role.FINDING) {
                            job.requireEvents();
                            List<Finding> findings = job.diagnose(object.name());
                            page.blank();
                            page.heading(findings.isEmpty() ? "No rows: the recording does not have this" : "Here");
                            new FindingsText(page).write(new Diagnosis(findings, List.of()));
                            members.putAll(findings(findings, 2)); // beside the SQL
                        }
                        return members;
                    });
                });
    }

    static Tool views(Database job) {
        return new Tool(
                "views",
                "List views",
                "The views that query can read, with their columns and units; of one view what it is made of and means.",
                List.of(Parameter.optionalText("name", "Only this view, with what is said about it.")),
                arguments -> {
                    boolean one = arguments.has("name");
                    List<SqlObject> views = one ? List.of(find(job, arguments.text("name"))) : all(job);
                    List<Map<String, @Nullable Object>> listed = new ArrayList<>();
                    return Texts.answer(page -> {
                        for (SqlObject view : views) {
                            listed.add(one ? documented(view) : named(view));
                            page.paragraph(view.name() + ": ", view.title());
                            if (one) {
                                page.paragraph("", view.why().replace('\n', ' '));
                                view.columns().forEach((name, comment) -> page.paragraph("  " + name + "  ", comment));
                            } else {
                                page.paragraph("    ", String.join(", ", view.columns().keySet()));
                            }
                        }
                        Map<String, @Nullable Object> members = new LinkedHashMap<>();
                        members.put("views", listed);
                        return members;
                    });
                });
    }

    private static List<SqlObject> all(Database job) {
        return job.library().objects().stream()
                .filter(object -> object.role() == SqlObject.Role.VIEW && !object.name().startsWith("_"))
                .toList();
    }

    private static SqlObject find(Database job, String name) {
        SqlObject object = job.library().find(name);
        if (object == null) {
            throw new RecordingException(
                    "explaining '" + name + "': no such finding or view",
                    Suggestion.hint(name, job.library().objects().stream()
                            .map(SqlObject::name)
                            .filter(known -> !known.startsWith("_"))
                            .toList()));
        }
        return object;
    }

    private static Map<String, @Nullable Object> named(SqlObject object) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("name", object.name());
        members.put("title", object.title());
        members.put("columns", List.copyOf(object.columns().keySet()));
        return members;
    }

    private static Map<String, @Nullable Object> documented(SqlObject object) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("name", object.name());
        members.put("title", object.title());
        members.put("about", object.why());
        members.put("columns", object.columns());
        return members;
    }
}
