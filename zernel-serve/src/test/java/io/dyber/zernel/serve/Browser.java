package io.dyber.zernel.serve;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A headless Chromium with one page, steered over its DevTools protocol.
final class Browser implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();

    private final Process process;
    private final WebSocketClient tab;
    private int lastId;

    private Browser(Process process, WebSocketClient tab) {
        this.process = process;
        this.tab = tab;
    }

    /// Where it is installed.
    static Optional<Path> program() {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /// Starts it with its files in `folder`.
    static Browser start(Path program, Path folder) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(program.toString(), "--headless", "--no-sandbox", "--disable-gpu",
                        "--remote-debugging-port=0", "--user-data-dir=" + folder, "about:blank")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        String line;
        BufferedReader said = process.errorReader();
        do {
            line = said.readLine();
        } while (line != null && !line.startsWith("DevTools listening on "));
        if (line == null) {
            throw new IOException("the browser did not start");
        }
        Thread.ofVirtual().start(() -> said.lines().forEach(_ -> {}));
        URI server = URI.create(line.substring("DevTools listening on ".length()));
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + server.getAuthority() + "/json"))
                    .build();
            for (int i = 0; i < 300; i++) {
                for (JsonNode target : JSON.readTree(http.send(request, HttpResponse.BodyHandlers.ofString()).body())) {
                    if (target.path("type").asString("").equals("page")) {
                        String path = URI.create(target.path("webSocketDebuggerUrl").asString("")).getPath();
                        return new Browser(process, new WebSocketClient(server.getPort() + path, null));
                    }
                }
                Thread.sleep(100); // it makes one a moment after it listens
            }
        }
        throw new IOException("the browser has no page");
    }

    void open(String address) throws InterruptedException {
        JsonNode _ = call("Page.navigate", Map.of("url", address));
    }

    /// Runs a script in each page that is opened from now on, before its own.
    void beforeEachPage(String script) throws InterruptedException {
        JsonNode _ = call("Page.enable", Map.of());
        JsonNode _ = call("Page.addScriptToEvaluateOnNewDocument", Map.of("source", script));
    }

    /// Makes the window that of a phone.
    void phone(int width, int height) throws InterruptedException {
        JsonNode _ = call("Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 2, "mobile", true));
    }

    /// The value of an expression as a text.
    String text(String expression) throws InterruptedException {
        return call("Runtime.evaluate", Map.of("expression", "String(" + expression + ")"))
                .at("/result/value").asString("");
    }

    /// Waits for at most 60 s until the expression has this value as a text; gives what it has.
    String await(String expression, String value) throws InterruptedException {
        String now = text(expression);
        for (int i = 0; i < 600 && !now.equals(value); i++) {
            Thread.sleep(100);
            now = text(expression);
        }
        return now;
    }

    void press(String key, int code) throws InterruptedException {
        for (String type : new String[] {"keyDown", "keyUp"}) {
            JsonNode _ = call("Input.dispatchKeyEvent", Map.of(
                    "type", type, "key", key, "code", key, "windowsVirtualKeyCode", code,
                    "text", key.equals("Enter") ? "\r" : ""));
        }
    }

    /// Presses or releases the mouse in the middle of what a selector finds.
    ///
    /// @param type `mousePressed` or `mouseReleased`
    void mouse(String type, String selector) throws InterruptedException {
        String area = "document.querySelector('" + selector + "').getBoundingClientRect()";
        JsonNode _ = call("Input.dispatchMouseEvent", Map.of(
                "type", type, "button", "left", "clickCount", 1,
                "x", Double.parseDouble(text("(area => area.left + area.width / 2)(" + area + ")")),
                "y", Double.parseDouble(text("(area => area.top + area.height / 2)(" + area + ")"))));
    }

    /// The upper part of the page as a PNG.
    byte[] picture(int width, int height) throws InterruptedException {
        JsonNode _ = call("Emulation.setScrollbarsHidden", Map.of("hidden", true));
        JsonNode _ = call("Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        Thread.sleep(500);
        return Base64.getDecoder().decode(call("Page.captureScreenshot", Map.of("format", "png")).path("data").asString(""));
    }

    private JsonNode call(String method, Map<String, Object> parameters) throws InterruptedException {
        int id = ++lastId;
        tab.send(JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters)));
        while (true) {
            JsonNode answer = JSON.readTree(tab.next());
            if (answer.path("id").asInt(0) == id) {
                return answer.path("result");
            }
        }
    }

    @Override
    public void close() {
        tab.close();
        // Its own processes outlive it for a moment, and write into the folder that is about to be deleted.
        List<ProcessHandle> all = Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
        process.destroy();
        all.forEach(Browser::awaitEnd);
    }

    private static void awaitEnd(ProcessHandle process) {
        try {
            process.onExit().get(10, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException _) {
            process.destroyForcibly();
            process.onExit().join();
        }
    }
}
