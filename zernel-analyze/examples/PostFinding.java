///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 25+
//DEPS io.dyber.zernel:zernel-analyze:0.1.0
//RUNTIME_OPTIONS --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
//RUNTIME_OPTIONS --add-opens=java.base/java.nio=ALL-UNNAMED

import io.dyber.zernel.analyze.*;
import java.net.URI;
import java.net.http.*;
import tools.jackson.databind.json.JsonMapper;

/// Posts what to fix first to a chat's webhook. `jbang PostFinding.java run.parquet https://hooks.slack.com/services/...`
void main(String[] arguments) throws Exception {
    String text;
    try (Database job = Recordings.open(arguments[0])) {
        text = job.diagnose().findings().stream()
                .findFirst()
                .map(top -> top.title() + " " + top.subject() + ": " + top.evidence() + "\nTry: " + top.advice())
                .orElse("nothing to fix was found in " + arguments[0]);
    }
    HttpRequest post = HttpRequest.newBuilder(URI.create(arguments[1]))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(10))
            .POST(HttpRequest.BodyPublishers.ofString(JsonMapper.shared().writeValueAsString(Map.of("text", text))))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
        int status = client.send(post, HttpResponse.BodyHandlers.discarding()).statusCode();
        IO.println("posted to " + post.uri().getHost() + ": status " + status);
        System.exit(status / 100 == 2 ? 0 : 1);
    }
}
