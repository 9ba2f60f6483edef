package io.dyber.zernel.analyze.report;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.DiffRule;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

@Timeout(240)
class DiffPageTest {
    @TempDir
    Path folder;

    /// Nine steps after warm-up each: `load` takes 4 ms of a step, then 12 ms, `save` 2 ms, then nothing, and `log` 1 ms both
    /// times.
    private static final RecordingFixture BEFORE = recording().training(10, 5)
            .blocked("wait", "recvfrom", 43, 36, "main (/me/train.py:1);<b>load (/me/data.py:7)")
            .blocked("io", "fsync", 90, 18, "main (/me/train.py:2);save (libx.so)")
            .blocked("io", "write", 130, 9, "main (/me/train.py:3);log (/me/log.py:7)");
    private static final RecordingFixture AFTER = recording().training(10, 5)
            .blocked("wait", "recvfrom", 43, 108, "main (/me/train.py:1);<b>load (/me/data.py:8)")
            .blocked("io", "write", 160, 9, "main (/me/train.py:3);log (/me/log.py:7)");

    @Test
    void stacksOfBothAreOneTree() {
        try (Database database = open(BEFORE, AFTER)) {
            assertThat(database.query("FROM flame_diff").toString()).isEqualTo("""
                    node\tparent\tframe\tstate\ttotal_ns
                    1\tnull\ttrain.py main\tafter\t1.3E7
                    1\tnull\ttrain.py main\tbefore\t7000000.0
                    2\t1\tdata.py <b>load\tafter\t1.2E7
                    2\t1\tdata.py <b>load\tbefore\t4000000.0
                    3\t1\tlog.py log\tafter\t1000000.0
                    3\t1\tlog.py log\tbefore\t1000000.0
                    4\t1\tsave\tbefore\t2000000.0""");
        }
    }

    @Test
    void aFrameIsAsWideAsItsTimeOnOneSideAndColouredByTheChange() throws Exception {
        String page = page(BEFORE, AFTER);
        DrawnPage after = DrawnPage.of(page, folder);
        assertThat(after.texts("button")).containsExactly(
                "as wide as after", "as wide as before", "all stacks", "train.py main", "data.py <b>load", "log.py log");
        Element load = after.all("button").get(4);
        assertThat(load.getAttribute("style")).startsWith("left: 0%; width: 92.3077%; top: 38px; background: "
                + "color-mix(in srgb, var(--bad) 100%, var(--unknown))");
        assertThat(load.getAttribute("title")).isEqualTo("data.py <b>load 4.00 ms before, 12.0 ms after: +8.00 ms");
        assertThat(after.all("button").get(5).getAttribute("style")).contains("var(--optimizer_step) 0%");
        assertThat(after.texts("li")).containsExactly("more time after", "less", "the same");

        DrawnPage before = DrawnPage.of(page, folder, "#before");
        assertThat(before.texts("button")).containsExactly(
                "as wide as after", "as wide as before", "all stacks", "train.py main", "data.py <b>load", "log.py log", "save");
        Element save = before.all("button").get(6);
        assertThat(save.getAttribute("title")).isEqualTo("save 2.00 ms before, 0 ns after: -2.00 ms");
        assertThat(save.getAttribute("style")).contains("var(--optimizer_step) 100%");
    }

    @Test
    void whatTheTextSaysIsThere() throws Exception {
        DrawnPage page = DrawnPage.of(page(BEFORE, AFTER), folder);
        assertThat(page.texts("p"))
                .anyMatch(text -> text.startsWith("No significant difference of most steps (p >= 0.01): "))
                .anyMatch(text -> text.equals("BROKEN step_p50 > 1ms: step_p50 40.000 ms before, 40.000 ms after"))
                .noneMatch(text -> text.contains("with JavaScript"));
        assertThat(page.texts("h2")).containsExactly("Steps", "Lines", "Stacks", "Calls");
        assertThat(page.texts("th")).contains("per step", "calls/step", "line", "time/step");
        assertThat(page.texts("td")).contains("data.py:8 <b>load", "+8.00 ms");
    }

    @Test
    void hostileNamesAreOnlyText() throws Exception {
        String name = "</script><script>alert(1)</script>\u001B[31m";
        String page = page(recording().training(10, 5).region(name, 61, 1), AFTER);
        assertThat(page.split("(?i)<script", -1)).hasSize(3);
        assertThat(DrawnPage.of(page, folder).texts("td")).contains("</script><script>alert(1)</script>\uFFFD[31m");
    }

    @Test
    void withoutStacksThereIsNoGraph() throws Exception {
        DrawnPage page = DrawnPage.of(page(recording().training(10, 5), AFTER), folder);
        assertThat(page.texts("h2")).containsExactly("Steps", "Calls");
        assertThat(page.texts("th")).contains("per step");
    }

    private Database open(RecordingFixture before, RecordingFixture after) {
        return Recordings.compare(
                before.write(folder.resolve("before.parquet")).toString(),
                after.write(folder.resolve("after.parquet")).toString(),
                DatabaseOptions.defaults(),
                SqlLibrary.builtIn());
    }

    private String page(RecordingFixture before, RecordingFixture after) {
        StringWriter page = new StringWriter();
        try (Database database = open(before, after)) {
            Diff diff = Diff.of(database);
            new DiffReport(diff, List.of(DiffRule.parse("step_p50 > 1ms").judge(diff)))
                    .html(new PrintWriter(page), database.query(database.hasStacks() ? "FROM flame_diff" : "FROM flame_diff LIMIT 0"));
        }
        return page.toString();
    }
}
