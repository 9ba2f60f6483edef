package io.dyber.zernel.analyze.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/// A page from disk after Chromium ran its script. Without Chromium a test is skipped.
record DrawnPage(Document document) {
    static DrawnPage of(String page, Path folder) throws Exception {
        return of(page, folder, "");
    }

    /// The same at an address that ends with this.
    static DrawnPage of(String page, Path folder, String fragment) throws Exception {
        Optional<Path> program = browser();
        if (program.isEmpty()) {
            System.out.println("skipped: needs Chromium (apt-get install chromium)");
        }
        assumeThat(program).isPresent();
        Path file = Files.writeString(folder.resolve("report.html"), page);
        Process process = new ProcessBuilder(program.orElseThrow().toString(), "--headless", "--no-sandbox", "--disable-gpu",
                        "--disable-background-networking", "--user-data-dir=" + folder.resolve("browser"), "--dump-dom",
                        file.toUri() + fragment)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String drawn = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        // XML but for its first line, the void elements, and scripts, which are no part of what is shown.
        String xml = drawn.replaceFirst("<!DOCTYPE html>", "")
                .replaceAll("<(meta|input) ([^>]*)>", "<$1 $2/>")
                .replaceAll("(?s)(<script[^>]*>).*?</script>", "$1</script>")
                .replace("&nbsp;", " ");
        return new DrawnPage(DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(xml))));
    }

    /// The elements with this tag.
    List<Element> all(String tag) {
        NodeList nodes = document.getElementsByTagName(tag);
        return IntStream.range(0, nodes.getLength()).mapToObj(i -> (Element) nodes.item(i)).toList();
    }

    /// The texts of the elements with this tag.
    List<String> texts(String tag) {
        return all(tag).stream().map(Element::getTextContent).toList();
    }

    /// The descriptions of the pictures whose name begins so.
    List<String> pictures(String name) {
        return all("svg").stream().map(svg -> svg.getAttribute("aria-label")).filter(label -> label.startsWith(name)).toList();
    }

    private static Optional<Path> browser() {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome").map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
