package io.dyber.zernel.analyze.report;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import io.dyber.zernel.analyze.report.data.Report;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(240)
class HtmlReportTest {
    /// Would end the data or begin an element, a script, a comment, or a mark of the page.
    private static final String HOSTILE =
            "</script><script>alert(1)</script><!--<script><img src=x onerror='x' \"&\u2028\u2029\\u003c__SCRIPT__\u001B[31m";

    @TempDir
    Path folder;

    @Test
    void theDataIsWhatJsonPrintsAndEndsWhereItEnds() {
        String page = page(hostile());
        assertThat(Pattern.compile("(?i)<script|<!--|[\u2028\u2029]").matcher(page).results().count()).isEqualTo(2);
        assertThat(Pattern.compile("(?i)</script").matcher(page).results().count()).isEqualTo(2);
        JsonNode data = JsonMapper.shared().readTree(between(page, "<script type=\"application/json\" id=\"report\">"));
        StringWriter json = new StringWriter();
        try (Database database = Recordings.open(folder.resolve("run.parquet").toString())) {
            new JsonReport(new PrintWriter(json), database.library()).write(Report.of(database, Report.SECTIONS, (_, _) -> {}));
        }
        assertThat(data).isEqualTo(JsonMapper.shared().readTree(json.toString()));
        assertThat(data.path("recordings").get(0).path("command").asString()).isEqualTo("<script> " + HOSTILE);
    }

    @Test
    void onlyThePagesScriptMayRunAndNothingComesFromElsewhere() throws Exception {
        String page = page(recording().training(6, 15));
        String script = between(page, "<script type=\"module\">");
        String hash = Base64.getEncoder()
                .encodeToString(MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8)));
        assertThat(page)
                .contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + hash + "'\">")
                .doesNotContain("https:", "src=", "@import", "url(", "import ", "__STYLE__", "__JSON__")
                .contains("This page is drawn with JavaScript");
        assertThat(page.replace("http://www.w3.org/2000/svg", "")).doesNotContain("http:"); // that is the name of SVG
    }

    @Test
    void hostileNamesAreOnlyText() throws Exception {
        DrawnPage page = DrawnPage.of(page(hostile()), folder);
        assertThat(page.all("script")).hasSize(2);
        assertThat(page.all("img")).isEmpty();
        assertThat(page.texts("code")).contains("<script> " + HOSTILE.replace('\u001B', '\uFFFD'));
        assertThat(page.texts("td")).contains(HOSTILE.replace('\u001B', '\uFFFD'));
        assertThat(page.texts("p")).contains("INCOMPLETE, 28 events on <b>h</b>").noneMatch(text -> text.contains("This page draws"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsNotKnownIsNotShown(boolean hasFooter) throws Exception {
        RecordingFixture fixture = recording().region("a", 1, 2);
        for (String key : hasFooter ? List.<String>of() : List.of("format", "recording", "schema", "kinds")) {
            fixture.footer("zernel." + key, null);
        }
        Element body = DrawnPage.of(page(fixture), folder).all("main").getFirst();
        assertThat(body.getTextContent()).contains("No finding of the library applies.").doesNotContain("null", "NaN", "undefined", "Infinity", "[object");
    }

    @Test
    void everyPictureIsThere() throws Exception {
        RecordingFixture fixture = recording().footer(
                "zernel.gpus", "{\"devices\":[{\"index\":0,\"memory_total\":4000000000}]}");
        for (int rank = 0; rank < 2; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3").training(12, 15).gpuAlloc(1, 1, 3_000_000_000L, 0);
            for (int i = 0; i < 12; i++) {
                fixture.allReduce(rank, i, i * 50 + 30 + rank, 0.5, 1_000_000);
            }
        }
        DrawnPage page = DrawnPage.of(page(fixture), folder);
        assertThat(page.pictures("pid 100")).containsExactly(
                "pid 100: DataLoading 30.0 % 15.0 ms, GpuCompute 59.0 % 29.5 ms, NcclCollective 1.0 % 500 us, "
                        + "OptimizerStep 10.0 % 5.00 ms",
                "pid 100, GPU 0: allocated, handed out");
        assertThat(page.pictures("delays of rank")).containsExactly("delays of rank 0", "delays of rank 1");
        assertThat(page.all("svg")).hasSize(6);
        assertThat(page.texts("h3")).contains("pid 101top 50.0 ms", "pid 101, GPU 0top 4.20 GB");
        assertThat(page.texts("title")).contains("last to 1 of 1 collectives from number 3 on, by 1.00 ms on average");
        assertThat(page.all("line")).extracting(line -> line.getAttribute("y1")).allSatisfy(y -> assertThat(y).startsWith("4.76"));
        assertThat(page.texts("p")).contains(
                "Allocated at most 3.00 GB, handed out at most 0 B; the device has 4.00 GB (dashed).",
                "Mean of 11 training steps, 50.0 ms: wall time of the thread on the CPU, not GPU time.");
        assertThat(page.texts("pre").getFirst()).startsWith("-- Training waits for ");
    }

    @Test
    void warmUpDoesNotFlattenTheOtherSteps() throws Exception {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 0; i < 12; i++) {
            double step = i == 0 ? 9000 : i == 1 ? 3000 : 50;
            fixture.region(RecordingFixture.NEXT, at, 5).region(RecordingFixture.STEP, at + step - 5, 5);
            at += step;
        }
        DrawnPage page = DrawnPage.of(page(fixture), folder);
        assertThat(page.texts("h3")).contains("pid 100top 50.0 ms");
        assertThat(page.texts("p")).anyMatch(text ->
                text.endsWith("first 2 steps, 12.0 s, are warm-up or a slower phase, and left out. Warm-up is cut off."));
    }

    @Test
    void aStandstillIsDrawnAfterTheLastStep() throws Exception {
        RecordingFixture fixture = recording();
        for (int rank = 0; rank < 2; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3").training(12, 15);
            for (int i = 0; i < 13 - rank; i++) {
                fixture.allReduce(rank, i, i * 50 + 30 + rank, 0.5, 1_000_000);
            }
        }
        fixture.on(100, 100, "python3").event("cuda_sync", "cudaStreamSynchronize", 631, null, "depth = 0");
        String stands = "Stands still from 630 ms after the start of the recording, for 9.37 s to its end: ";
        DrawnPage page = DrawnPage.of(page(fixture), folder);
        assertThat(page.texts("title"))
                .contains("Stands still from 631 ms after the start of the recording, for 9.37 s to its end: it has not "
                        + "returned from cudaStreamSynchronize, and rank 1 never came to ncclAllReduce (number 12).")
                .contains(stands + "it never came to ncclAllReduce (number 12), to which rank 0 did; its last call was "
                        + "Optimizer.step#AdamW.step.");
        assertThat(page.texts("p")).anyMatch(text -> text.startsWith(stands));
        assertThat(page.texts("span")).contains("step 12, then nothing");
        assertThat(page(recording().training(12, 15))).doesNotContain("Stands still");
    }

    @Test
    void aTraceOfTheGpuIsDrawn() throws Exception {
        TraceFixture trace = TraceFixture.trace(100)
                .kernel("gemm", 7, 10, 10, 60).kernel("ncclDevKernel_AllReduce", 9, 60, 60, 40)
                .copy("Memcpy HtoD", 11, 120, 120, 10);
        DrawnPage page = DrawnPage.of(page(recording().training(6, 15), trace.write(folder.resolve("trace.json"))), folder);
        assertThat(page.pictures("pid 100, GPU 0")).containsExactly(
                "pid 100, GPU 0: compute, communication that nothing hides, copies alone, empty: idle");
        // 120 ms in 120 points: the second 60 ms begin with what is left of the communication.
        assertThat(page.all("path")).extracting(path -> path.getAttribute("d"))
                .anyMatch(path -> path.startsWith("M0.00 100.0h8.33V0.0h-8.33zM8.33 "))
                .anyMatch(path -> path.startsWith("M500.00 100.0h8.33V0.0h-8.33z"));
        assertThat(page.texts("dd")).contains("kernels ran 75.0 % of 120 ms; communication 33.3 %, 25.0 % not hidden by compute; "
                + "copies alone 8.3 %; idle 16.7 %");
    }

    @Test
    void stacksAreAFlameGraph() throws Exception {
        RecordingFixture fixture = recording().training(6, 15)
                .blocked("cuda_sync", "cudaStreamSynchronize", 116, 6, "main (/me/<b>.py:1);loss (/me/a.py:88);item (/v/site-packages/torch/t.py:1)", "depth = 0")
                .blocked("io", "read", 70, 2, "main (/me/<b>.py:1);loss (/me/a.py:88)")
                .blocked("io", "read", 80, 12, "main (/me/<b>.py:1);_find_and_load (<frozen importlib._bootstrap>:7);load (/me/data.py:7)")
                .on(300, 300, "pt_data_worker").region("x", 0, 1).sample(109, "blur (/me/data.py:9)");
        String page = page(fixture);
        DrawnPage whole = DrawnPage.of(page, folder);
        assertThat(whole.texts("button")).containsExactly("all stacks", "data workers", "data.py:9 blur", "training threads",
                "<b>.py:1 main", "data.py:7 load", "a.py:88 loss", "t.py:1 item");
        Element training = whole.all("button").get(3);
        assertThat(training.getAttribute("style")).startsWith("left: 50%; width: 50%; top: 19px; background: linear-gradient(to right, "
                + "var(--optimizer_step) 0% 30%, var(--data_loading) 30% 100%);");
        assertThat(training.getAttribute("title")).isEqualTo("training threads 20.0 ms, 50.0 % of all gpu 6.00 ms, storage 14.0 ms");
        DrawnPage zoomed = DrawnPage.of(page, folder, "#stack=a.py:88");
        assertThat(zoomed.texts("button")).containsExactly("all stacks", "training threads", "<b>.py:1 main", "a.py:88 loss", "t.py:1 item");
        assertThat(zoomed.all("button").stream().filter(one -> one.getAttribute("class").equals("found")).map(Element::getTextContent))
                .containsExactly("a.py:88 loss");
        assertThat(zoomed.all("button").getLast().getAttribute("style")).startsWith("left: 0%; width: 75%; top: 76px; ");
        assertThat(zoomed.texts("p")).contains("a.py:88 loss: 8.00 ms; 100.0 % of it in frames with \"a.py:88\"");
        assertThat(page(recording().training(6, 15))).contains("\"flame_graph\": []");
        assertThat(DrawnPage.of(page(recording().training(6, 15)), folder).texts("h2")).doesNotContain("Stacks");
    }

    @Test
    void numbersThatADoubleCannotHoldAreExact() throws Exception {
        RecordingFixture fixture = recording();
        for (int rank = 0; rank < 2; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3").training(3, 15).allReduce(rank, 0, 30 + rank, 0.5, 1000);
        }
        fixture.alter("UPDATE events SET comm_id = 5904639490228874961 WHERE comm_id IS NOT NULL");
        DrawnPage page = DrawnPage.of(page(fixture), folder);
        assertThat(page.texts("td")).contains("5904639490228874961");
    }

    @Test
    void aLongRecordingStaysSmall() {
        String text = page(recording().alter("""
                INSERT INTO events BY NAME
                SELECT 'region' AS kind, '%s' AS name, %d + i * 1000000 AS ts_ns, 400000 AS dur_ns, 100 AS pid, 100 AS tid
                FROM range(20000) AS r(i)
                """.formatted(RecordingFixture.STEP, RecordingFixture.START_NS)));
        assertThat(text).contains("20,000 steps (by Optimizer.step)");
        assertThat(text.length()).isLessThan(200_000);
    }

    @Test
    void coloursStandOutFromThePage() {
        String style = HtmlPage.style();
        for (int scheme = 1; scheme <= 2; scheme++) {
            Map<String, String> colours = colours(style, scheme);
            for (String page : List.of("page", "card")) {
                for (String text : List.of("ink", "soft", "accent", "bad", "warn", "good")) {
                    assertThat(contrast(colours, text, page)).as(text).isGreaterThan(4.5);
                }
                for (String graphics : List.of("data_loading", "gpu_compute", "nccl_collective", "optimizer_step", "unknown", "second",
                        "handed")) {
                    assertThat(contrast(colours, graphics, page)).as(graphics).isGreaterThan(3);
                }
            }
        }
    }

    private static RecordingFixture hostile() {
        return recording()
                .region(HOSTILE, 600, 1)
                .training(9, 15)
                .footer("zernel.recording", JsonMapper.shared().writeValueAsString(Map.of(
                        "host", "<b>h</b>", "command", List.of("<script>", HOSTILE), "complete", false,
                        "incomplete_because", List.of("</p><script>"))));
    }

    private String page(RecordingFixture fixture, Path... traces) {
        StringWriter page = new StringWriter();
        List<String> files = new ArrayList<>(List.of(fixture.write(folder.resolve("run.parquet")).toString()));
        Arrays.stream(traces).map(Path::toString).forEach(files::add);
        try (Database database = Recordings.open(files.toArray(String[]::new))) {
            new HtmlReport(new PrintWriter(page), database.library()).write(Report.of(database, Report.SECTIONS, (_, _) -> {}));
        }
        return page.toString();
    }

    /// What the page has between the beginning of a script and its end.
    private static String between(String page, String begin) {
        int from = page.indexOf(begin) + begin.length();
        return page.substring(from, page.indexOf("</script>", from));
    }

    /// The colours of the light scheme, 1, or of the dark one, 2.
    private static Map<String, String> colours(String style, int scheme) {
        Map<String, String> colours = new TreeMap<>();
        Matcher colour = Pattern.compile("--(\\w+): light-dark\\(#([0-9a-f]{6}), #([0-9a-f]{6})\\);").matcher(style);
        while (colour.find()) {
            colours.put(colour.group(1), colour.group(1 + scheme));
        }
        return colours;
    }

    /// The contrast ratio as WCAG defines it.
    private static double contrast(Map<String, String> colours, String name, String behind) {
        double first = luminance(colours.getOrDefault(name, ""));
        double page = luminance(colours.getOrDefault(behind, ""));
        return (Math.max(first, page) + 0.05) / (Math.min(first, page) + 0.05);
    }

    private static double luminance(String hex) {
        double[] weights = {0.2126, 0.7152, 0.0722};
        double sum = 0;
        for (int i = 0; i < 3; i++) {
            double part = Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16) / 255.0;
            sum += weights[i] * (part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4));
        }
        return sum;
    }
}
