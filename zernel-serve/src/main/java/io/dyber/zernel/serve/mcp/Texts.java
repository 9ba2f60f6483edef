package io.dyber.zernel.serve.mcp;

import io.dyber.zernel.analyze.report.table.Page;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Pages as text.
final class Texts {
    private static final int WIDTH = 140;

    private Texts() {}

    /// What is written on a page without colours.
    static String written(Consumer<Page> writer) {
        StringWriter text = new StringWriter();
        try (PrintWriter out = new PrintWriter(text)) {
            writer.accept(new Page(out, WIDTH, false, true));
        }
        return text.toString();
    }

    /// What is written on a page, and beside it the members that the writer returns.
    static Answer answer(Function<Page, Map<String, @Nullable Object>> writer) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        String text = written(page -> members.putAll(writer.apply(page)));
        return new Answer(members, text);
    }
}
