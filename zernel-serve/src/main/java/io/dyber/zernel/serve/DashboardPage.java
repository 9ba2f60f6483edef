package io.dyber.zernel.serve;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/// The web page: one file without any reference to elsewhere.
final class DashboardPage {
    private static final String RESOURCE = "dashboard.html";
    private static final String PORT_MARK = "__ZERNEL_WS_PORT__";

    private DashboardPage() {}

    /// @param webSocketPort where the page's script finds the snapshots
    static HttpEndpoint.Page load(int webSocketPort) throws IOException {
        try (InputStream in = DashboardPage.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new FileNotFoundException(RESOURCE);
            }
            String html = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .replace(PORT_MARK, Integer.toString(webSocketPort));
            return _ -> new HttpEndpoint.Answer(200, "text/html; charset=utf-8", html);
        }
    }
}
