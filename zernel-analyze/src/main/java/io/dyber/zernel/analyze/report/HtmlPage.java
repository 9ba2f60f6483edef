package io.dyber.zernel.analyze.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/// An HTML page with its data as JSON and the script that draws it. Its policy lets no other script run and nothing be loaded.
///
/// @param command what prints the same as text, for a browser that cannot draw it
/// @param scripts modules in `/report/`, each after those that it imports
record HtmlPage(String command, List<String> scripts) {
    /// Writes a page with this data.
    ///
    /// @param out where the page goes; not closed here
    void write(PrintWriter out, String json) {
        String script = script();
        // The recording's texts last, in which a mark is only text.
        out.print(resource("report.html")
                .replace("__COMMAND__", command)
                .replace("__STYLE__", style())
                .replace("__HASH__", hash(script))
                .replace("__SCRIPT__", script)
                .replace("__JSON__", embedded(json)));
    }

    /// Light or dark as the reader's system is.
    static String style() {
        return resource("charts.css") + resource("report.css");
    }

    /// Modules as one, as a page that is opened from disk may import none.
    private String script() {
        return scripts.stream()
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
        try (InputStream stream = HtmlPage.class.getResourceAsStream("/report/" + name)) {
            if (stream == null) {
                throw new IllegalStateException("the jar has no report/" + name);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
