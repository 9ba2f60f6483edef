package io.dyber.zernel.serve.http;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/// The web page: files without any reference to elsewhere. They hold nothing of a recording; the script fetches that.
public final class PageFiles {
    private static final String FOLDER = "page/";

    /// What the page draws as the analyzer's report does.
    private static final String CHARTS = "/report/";

    private static final String PORT_MARK = "__ZERNEL_WS_PORT__";
    private static final Map<String, String> TYPES = Map.of(
            FOLDER + "index.html", "text/html; charset=utf-8",
            FOLDER + "page.css", "text/css; charset=utf-8",
            FOLDER + "page.js", "text/javascript; charset=utf-8",
            CHARTS + "charts.css", "text/css; charset=utf-8",
            CHARTS + "charts.js", "text/javascript; charset=utf-8");

    private static final Map<String, String> FLEET_TYPES = Map.of(
            FOLDER + "fleet.html", "text/html; charset=utf-8",
            FOLDER + "page.css", "text/css; charset=utf-8",
            FOLDER + "fleet.css", "text/css; charset=utf-8",
            FOLDER + "fleet.js", "text/javascript; charset=utf-8",
            CHARTS + "charts.css", "text/css; charset=utf-8");

    private PageFiles() {}

    private record File(HttpEndpoint.Answer content) implements HttpEndpoint.Page {
        @Override
        public HttpEndpoint.Answer answer(HttpEndpoint.Asked asked) {
            return content;
        }

        @Override
        public boolean isPublic() {
            return true;
        }
    }

    /// The pages by path.
    ///
    /// @param webSocketPort where the script finds the snapshots
    public static Map<String, HttpEndpoint.Page> load(int webSocketPort) throws IOException {
        return load(TYPES, "/index.html", Integer.toString(webSocketPort));
    }

    /// The pages of a fleet by path.
    public static Map<String, HttpEndpoint.Page> fleet() throws IOException {
        return load(FLEET_TYPES, "/fleet.html", "");
    }

    private static Map<String, HttpEndpoint.Page> load(Map<String, String> types, String first, String webSocketPort)
            throws IOException {
        Map<String, HttpEndpoint.Page> pages = new LinkedHashMap<>();
        for (Map.Entry<String, String> file : types.entrySet()) {
            String text = read(file.getKey()).replace(PORT_MARK, webSocketPort);
            String path = file.getKey().substring(file.getKey().lastIndexOf('/'));
            pages.put(path.equals(first) ? "/" : path, new File(new HttpEndpoint.Answer(200, file.getValue(), text)));
        }
        return pages;
    }

    private static String read(String name) throws IOException {
        try (InputStream in = PageFiles.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new FileNotFoundException(name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
