package io.dyber.zernel.analyze;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;

/// A part of `docs/diagnosis.md` that a test writes; all around it is written by hand.
@NullMarked
enum WrittenBlock {
    REAL_JOBS("<!-- written by RealJobsIT -->\n"),
    SIMULATED_JOBS("<!-- written by DiagnosisTest -->\n");

    private static final Path PAGE = Path.of("../docs/diagnosis.md");
    private static final String END = "<!-- end -->";

    private final String begin;

    WrittenBlock(String begin) {
        this.begin = begin;
    }

    void write(String text) throws IOException {
        Path _ = Files.writeString(PAGE, replaced(Files.readString(PAGE), text));
    }

    String replaced(String page, String text) {
        int from = page.indexOf(begin);
        int to = page.indexOf(END, from);
        if (from < 0 || to < 0) {
            throw new IllegalStateException("'" + PAGE + "' has no '" + begin.strip() + "' and '" + END + "' after it");
        }
        return page.substring(0, from + begin.length()) + text + page.substring(to);
    }
}
