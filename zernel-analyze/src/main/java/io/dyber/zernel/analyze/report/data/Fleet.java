package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What digests of many nodes say together.
///
/// @param report what the verdict rests on, and all findings
/// @param ranks the view `fleet_ranks`
/// @param missing the view `missing_ranks`
/// @param unread files that were left out
/// @param counts of each finding that was made, the one that costs most first
/// @param incomplete recordings that are not complete
/// @param lacking digests in which a finding could not run
public record Fleet(
        Report report, Table ranks, Table missing, Table unread, List<Count> counts, long incomplete, long lacking) {
    private static final List<String> SECTIONS = List.of(
            "recordings",
            "training_threads",
            "processes_without_steps",
            "programs_without_steps",
            "phase_words",
            "step_mean",
            "gpu_limit",
            "unknowns");

    /// How often a finding was made.
    ///
    /// @param finding its worst
    /// @param times how often
    /// @param recordings in which
    /// @param medianLostNanos per step, of those that tell
    public record Count(Finding finding, long times, Set<Long> recordings, @Nullable Double medianLostNanos) {}

    /// Queries it.
    ///
    /// @throws RecordingException if the digests are of nothing
    public static Fleet of(Database database, Report.Progress progress) {
        database.requireEvents();
        Map<String, Count> counts = new LinkedHashMap<>();
        Diagnosis diagnosis = diagnose(database, progress, counts);
        Map<String, Table> sections = new LinkedHashMap<>();
        for (String view : SECTIONS) {
            progress.at(view, 0.8);
            sections.put(view, database.query("FROM " + view));
        }
        progress.at("ranks", 0.9);
        Report report = new Report(sections, StepWords.of(sections).in(diagnosis));
        List<Count> sorted = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (Finding finding : report.diagnosis().findings()) {
            Count count = counts.get(finding.name());
            if (count != null && seen.add(finding.name())) {
                sorted.add(new Count(finding, count.times(), count.recordings(), count.medianLostNanos()));
            }
        }
        return new Fleet(
                report,
                database.query("FROM fleet_ranks"),
                database.query("FROM missing_ranks"),
                database.query("FROM unread_files"),
                sorted,
                database.query("SELECT count(*) AS n FROM recordings WHERE NOT complete").only().integer("n"),
                database.query("SELECT count(*) AS n FROM files WHERE contains(note, '; could not run: ')").only().integer("n"));
    }

    private static Diagnosis diagnose(Database database, Report.Progress progress, Map<String, Count> counts) {
        List<Finding> findings = new ArrayList<>();
        List<Diagnosis.Skipped> skipped = new ArrayList<>();
        List<SqlObject> all = database.library().findings();
        int done = 0;
        for (SqlObject object : all) {
            progress.at(object.name(), 0.8 * done++ / all.size());
            try {
                List<Finding> made = database.diagnose(object.name());
                if (!made.isEmpty()) {
                    findings.addAll(made);
                    counts.put(object.name(), count(made.getFirst(), database));
                }
            } catch (RecordingException e) {
                skipped.add(new Diagnosis.Skipped(object.name(), String.valueOf(e.getMessage())));
            }
        }
        findings.sort(Finding.WORST_FIRST);
        return new Diagnosis(List.copyOf(findings), List.copyOf(skipped));
    }

    /// Of all rows of the finding that ran last, of which only the worst become findings.
    private static Count count(Finding worst, Database database) {
        Table rows = database.query(
                """
                SELECT recording, lost_ns
                FROM (
                    SELECT NULL::BIGINT AS recording, NULL::DOUBLE AS lost_ns
                    WHERE FALSE
                    UNION ALL BY NAME
                    FROM _finding
                )
                """);
        Set<Long> recordings = new HashSet<>();
        List<Double> lost = new ArrayList<>();
        for (Table.Row row : rows.rows()) {
            if (!row.isNull("recording")) {
                recordings.add(row.integer("recording"));
            }
            Double nanos = row.real("lost_ns");
            if (nanos != null) {
                lost.add(nanos);
            }
        }
        lost.sort(null);
        return new Count(worst, rows.rows().size(), recordings, lost.isEmpty() ? null : lost.get(lost.size() / 2));
    }

    /// What to fix first.
    public Verdict verdict() {
        return report.verdict();
    }
}
