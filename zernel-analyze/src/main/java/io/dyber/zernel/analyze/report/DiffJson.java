package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.DiffRule;
import io.dyber.zernel.analyze.recording.Recording;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A diff as one JSON object: `format`, `before`, `after`, the views `steps` and `calls`, and `rules`.
public record DiffJson(PrintWriter out) implements DiffFormat {
    @Override
    public void write(Diff diff, List<DiffRule.Verdict> verdicts) {
        Json json = new Json(out);
        out.print("{\n  \"format\": 1,\n  \"before\": ");
        json.value(paths(diff.before()));
        out.print(",\n  \"after\": ");
        json.value(paths(diff.after()));
        out.print(",\n  \"steps\": ");
        json.table(diff.steps(), "  ");
        out.print(",\n  \"calls\": ");
        json.table(diff.calls(), "  ");
        out.print(",\n  \"rules\": ");
        json.value(verdicts.stream().map(DiffJson::members).toList());
        out.println("\n}");
    }

    private static List<String> paths(List<Recording> recordings) {
        return recordings.stream().map(recording -> recording.path().toString()).toList();
    }

    private static Map<String, @Nullable Object> members(DiffRule.Verdict verdict) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("rule", verdict.rule().text());
        members.put("broken", verdict.broken());
        members.put("why", verdict.why());
        return members;
    }
}
