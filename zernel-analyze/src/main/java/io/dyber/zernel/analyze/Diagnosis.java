package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// What the findings of a library say about opened recordings.
///
/// @param findings the one that loses most time first; none means nothing was found
/// @param skipped findings that could not run
public record Diagnosis(List<Finding> findings, List<Skipped> skipped) {

    /// A finding that could not run; the others are not affected.
    public record Skipped(String name, String reason) {}

    /// Runs all findings.
    static Diagnosis of(Database database) {
        List<Finding> findings = new ArrayList<>();
        List<Skipped> skipped = new ArrayList<>();
        for (SqlObject object : database.library().findings()) {
            try {
                findings.addAll(Finding.run(object, database));
            } catch (RecordingException e) {
                skipped.add(new Skipped(object.name(), String.valueOf(e.getMessage())));
            }
        }
        findings.sort(Finding.WORST_FIRST);
        return new Diagnosis(List.copyOf(findings), List.copyOf(skipped));
    }

    /// What was skipped and why, on one line; empty when nothing was.
    public String skippedText() {
        return skipped.stream()
                .map(one -> one.reason().lines().findFirst().orElse(one.name()))
                .collect(Collectors.joining(
                        "; ", skipped.isEmpty() ? "" : "skipped " + skipped.size() + " of the findings: ", ""));
    }
}
