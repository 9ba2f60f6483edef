package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The report as one HTML page that needs nothing else: what [JsonReport] writes, and the script that draws it. Its policy
/// lets no other script run and nothing be loaded.
///
/// @param out where the page goes; not closed here
/// @param library where the SQL of a finding is, which the page shows folded
public record HtmlReport(PrintWriter out, SqlLibrary library) implements ReportFormat {
    @Override
    public void write(Report report) {
        StringWriter json = new StringWriter();
        new JsonReport(new PrintWriter(json), library).write(report);
        String script = script();
        // The recording's texts last, in which a mark is only text.
        out.print(resource("report.html")
                .replace("__STYLE__", style())
                .replace("__HASH__", hash(script))
                .replace("__SCRIPT__", script)
                .replace("__JSON__", embedded(json.toString())));
    }

    /// Light or dark as the reader's system is.
    static String style() {
        return resource("charts.css") + resource("report.css");
    }

    /// Modules as one, as a page that is opened from disk may import none.
    private static String script() {
        return Stream.of("charts.js", "flame.js", "report.js")
                .map(name -> resource(name).replaceAll("(?m)^import .* from \"./\\w+.js\";\n", "").replaceAll("(?m)^export ", ""))
                .collect(Collectors.joining());
    }

    /// JSON of the same value that has nothing in it that ends or begins an element, or a line of a script.
    private static String embedded(String json) {
        return json.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029");
    }

    private static String hash(String script) {
        try {
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java has it
        }
    }

    private static String resource(String name) {
        try (InputStream stream = HtmlReport.class.getResourceAsStream("/report/" + name)) {
            if (stream == null) {
                throw new IllegalStateException("the jar has no report/" + name);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
