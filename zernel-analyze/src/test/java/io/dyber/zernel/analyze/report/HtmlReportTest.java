package io.dyber.zernel.analyze.report;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

class HtmlReportTest {
    private static final String HOSTILE = "</title><script>alert(1)</script><img src=x onerror='x' \"&\u0000\u001B[31m";

    @TempDir
    Path folder;

    @Test
    void hostileNamesAreOnlyText() throws Exception {
        Document page = parsed(page(recording()
                .region(HOSTILE.replace("\u0000", ""), 600, 1)
                .training(9, 15)
                .footer("zernel.recording", """
                        {"host":"<b>h</b>","command":["<script>","x"],"complete":false,
                        "incomplete_because":["</p><script>"]}""")));
        assertThat(page.getElementsByTagName("script").getLength()).isZero();
        assertThat(page.getElementsByTagName("img").getLength()).isZero();
        assertThat(page.getDocumentElement().getTextContent())
                .contains("</title><script>alert(1)</script><img src=x onerror='x' \"&\uFFFD[31m", "<b>h</b>");
    }

    @Test
    void everyPictureIsThereAndNothingComesFromElsewhere() throws Exception {
        RecordingFixture fixture = recording().footer(
                "zernel.gpus", "{\"devices\":[{\"index\":0,\"memory_total\":4000000000}]}");
        for (int rank = 0; rank < 2; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3").training(12, 15).gpuAlloc(1, 1, 3_000_000_000L, 0);
            for (int i = 0; i < 12; i++) {
                fixture.allReduce(rank, i, i * 50 + 30 + rank, 0.5, 1_000_000);
            }
        }
        String text = page(fixture);
        assertThat(text).doesNotContain("<script", "http:", "https:", "src=", "@import", "url(");
        Document page = parsed(text);
        // Two timelines, two memory curves, a row of the heat map for each rank.
        assertThat(page.getElementsByTagName("svg").getLength()).isEqualTo(6);
        assertThat(page.getElementsByTagName("line").getLength()).isEqualTo(2);
        assertThat(titles(page))
                .contains("step 2 (train), 50.0 ms\nDataLoading 15.0 ms\nGpuCompute 29.5 ms\nNcclCollective 500 us\nOptimizerStep 5.00 ms")
                .contains("allocated 3.00 GB\nhanded out 0 B", "last to 1 of 1 collectives from number 3 on, by 1.00 ms on average");
        assertThat(page.getElementsByTagName("pre").item(0).getTextContent()).startsWith("-- Training waits for ");
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
        Element steps = (Element) parsed(page(fixture)).getElementsByTagName("figure").item(0);
        assertThat(steps.getElementsByTagName("span").item(0).getTextContent()).isEqualTo("50.0 ms");
        assertThat(steps.getTextContent().replace('\u00A0', ' ')).contains("first 2 steps, 12.0 s, compile or warm up and are left out. Warm-up is cut off.");
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
        Document page = parsed(page(fixture));
        assertThat(titles(page))
                .contains("Stands still from 631 ms after the start of the recording, for 9.37 s to its end: it has not "
                        + "returned from cudaStreamSynchronize, and rank 1 never came to ncclAllReduce (number 12).")
                .contains(stands + "it never came to ncclAllReduce (number 12), to which rank 0 did; its last call was "
                        + "Optimizer.step#AdamW.step.");
        assertThat(page.getElementsByTagName("figcaption").item(1).getTextContent().replace('\u00A0', ' ')).startsWith(stands);
        assertThat(titles(parsed(page(recording().training(12, 15))))).noneMatch(title -> title.startsWith("Stands"));
    }

    @Test
    void aTraceOfTheGpuIsDrawn() throws Exception {
        TraceFixture trace = TraceFixture.trace(100)
                .kernel("gemm", 7, 10, 10, 60).kernel("ncclDevKernel_AllReduce", 9, 60, 60, 40)
                .copy("Memcpy HtoD", 11, 120, 120, 10);
        String text = page(recording().training(6, 15), trace.write(folder.resolve("trace.json")));
        // 120 ms in 120 points.
        assertThat(titles(parsed(text)))
                .contains("compute 100.0 %\nidle 0.0 %", "copies alone 100.0 %\nidle 0.0 %", "idle 100.0 %")
                .contains("communication that nothing hides 100.0 %\nidle 0.0 %");
        assertThat(text).contains("pid 100, GPU 0</h3>").contains("<path class=\"NcclCollective\" d=\"M60 100.0h1V0.0h-1z");
    }

    @Test
    void aLongRecordingStaysSmall() {
        String text = page(recording().alter("""
                INSERT INTO events BY NAME
                SELECT 'region' AS kind, '%s' AS name, %d + i * 1000000 AS ts_ns, 400000 AS dur_ns, 100 AS pid, 100 AS tid
                FROM range(20000) AS r(i)
                """.formatted(RecordingFixture.STEP, RecordingFixture.START_NS)));
        assertThat(text).contains("Bars are means of neighbours").contains("step 20,000");
        assertThat(text.length()).isLessThan(200_000);
        assertThat(Pattern.compile("class=\"hover\"").matcher(text).results().count()).isEqualTo(400);
    }

    @Test
    void coloursStandOutFromThePage() {
        Matcher schemes = Pattern.compile(":root \\{([^}]*)\\}").matcher(Html.style());
        List<Map<String, String>> found = schemes.results().map(result -> colours(result.group(1))).toList();
        assertThat(found).hasSize(2).allSatisfy(colours -> {
            for (String text : List.of("text", "quiet", "high", "medium", "low", "good")) {
                assertThat(contrast(colours, text)).as(text).isGreaterThan(4.5);
            }
            for (String graphics : List.of("data", "compute", "comm", "optimizer", "unknown", "curve")) {
                assertThat(contrast(colours, graphics)).as(graphics).isGreaterThan(3);
            }
        });
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

    /// The page is XML but for its first line and the void elements of its head.
    private static Document parsed(String page) throws Exception {
        String xml = page.replaceFirst("<!DOCTYPE html>\n", "").replaceAll("<meta ([^>]*)>", "<meta $1/>");
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(xml)));
    }

    private static List<String> titles(Document page) {
        org.w3c.dom.NodeList nodes = page.getElementsByTagName("title");
        return java.util.stream.IntStream.range(0, nodes.getLength())
                .mapToObj(i -> ((Element) nodes.item(i)).getTextContent())
                .toList();
    }

    private static Map<String, String> colours(String declarations) {
        Map<String, String> colours = new TreeMap<>();
        Matcher colour = Pattern.compile("--(\\w+): #([0-9a-f]{6});").matcher(declarations);
        while (colour.find()) {
            colours.put(colour.group(1), colour.group(2));
        }
        return colours;
    }

    /// The contrast ratio to the page as WCAG defines it.
    private static double contrast(Map<String, String> colours, String name) {
        double first = luminance(colours.getOrDefault(name, ""));
        double page = luminance(colours.getOrDefault("page", ""));
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
