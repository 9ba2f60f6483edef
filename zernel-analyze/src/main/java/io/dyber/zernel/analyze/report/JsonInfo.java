package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.analyze.report.table.Json;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/// Footers as they are: an array with one object per recording, its `zernel.*` values unchanged.
public record JsonInfo(PrintWriter out) {
    public void write(List<Recording> recordings) {
        Json json = new Json(out);
        String separator = "[\n";
        for (Recording recording : recordings) {
            out.print(separator + "  {\"path\": ");
            json.text(recording.path().toString());
            out.print(",\n   \"state\": \"" + recording.state().name().toLowerCase(Locale.ROOT) + "\"");
            out.print(",\n   \"rows\": " + recording.rows());
            new TreeMap<>(recording.metadata()).forEach((key, value) -> {
                out.print(",\n   ");
                json.text(key);
                // Already JSON.
                out.print(": " + value.strip());
            });
            out.print("}");
            separator = ",\n";
        }
        out.println("\n]");
    }
}
