package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.analyze.cli.Analyze;
import io.dyber.zernel.record.cli.Record;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/// What somebody does with the HTML report in a browser; what it shows is in the analyzer's `HtmlReportTest`.
@Timeout(120)
final class ReportPageTest {
    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private Path folder;

    private Browser browser;

    @BeforeEach
    void open() throws Exception {
        Optional<Path> program = Browser.program();
        if (program.isEmpty()) {
            System.out.println("skipped: needs Chromium (apt-get install chromium)");
        }
        assumeThat(program).isPresent();
        Path recording = folder.resolve("run.parquet");
        assertThat(Record.run("--simulate=near-oom", "--seed=1", "--steps=30", "--quiet", "-o", recording.toString())).isZero();
        Path report = folder.resolve("report.html");
        try (PrintWriter out = new PrintWriter(report.toFile(), StandardCharsets.UTF_8)) {
            assertThat(Analyze.commandLine().setOut(out).execute("report", "--html", recording.toString())).isZero();
        }
        browser = Browser.start(program.orElseThrow(), folder.resolve("browser"));
        browser.open(report.toUri().toString());
        assertThat(browser.await("document.getElementById('undrawn')", "null")).isEqualTo("null");
    }

    @AfterEach
    void close() {
        if (browser != null) {
            browser.close();
        }
    }

    @Test
    void aStepTellsItsPartsWhereItIsPointedAt() throws Exception {
        // The page draws when it knows how wide it is.
        assertThat(browser.await("document.querySelector('.chart .key').textContent !== ''", "true")).isEqualTo("true");
        String mean = text(".chart .key");
        assertThat(text(".chart .span")).isEqualTo("step 1step 30");
        point(0.99);
        assertThat(text(".chart .span")).matches("step 1step 30 \\(train\\), 1\\d\\d\u00A0ms");
        assertThat(text(".chart .key")).matches("DataLoading 1\\d\\d usGpuCompute 1\\d\\d ms.*").doesNotContain("%");
        point(0.01);
        assertThat(text(".chart .span")).isEqualTo("step 1step 1 (warmup), 654\u00A0ms");
        browser.text("document.querySelector('.chart .plot').dispatchEvent(new PointerEvent('pointerleave'))");
        assertThat(text(".chart .key")).isEqualTo(mean).contains("GpuCompute 99.");
    }

    @Test
    void itIsAsWideAsAPhone() throws Exception {
        browser.phone(390, 844);
        assertThat(browser.await("document.documentElement.scrollWidth", "390")).isEqualTo("390");
        assertThat(browser.text("Math.round(document.querySelector('.chart').getBoundingClientRect().right) <= 390"))
                .isEqualTo("true");
        browser.text("document.querySelectorAll('details').forEach(one => one.open = true)");
        assertThat(browser.text("document.documentElement.scrollWidth")).isEqualTo("390");
    }

    @Test
    void noOtherScriptRuns() throws Exception {
        browser.text("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title = 1\">')");
        browser.text("document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 2'}))");
        Thread.sleep(500);
        assertThat(browser.text("document.title")).startsWith("Zernel: ");
    }

    private void point(double share) throws InterruptedException {
        browser.text("(plot => { const area = plot.getBoundingClientRect(); plot.dispatchEvent(new PointerEvent('pointermove', "
                + "{clientX: area.left + " + share + " * area.width})); })(document.querySelector('.chart .plot'))");
    }

    private String text(String selector) throws InterruptedException {
        return browser.text("document.querySelector('" + selector + "').textContent");
    }
}
