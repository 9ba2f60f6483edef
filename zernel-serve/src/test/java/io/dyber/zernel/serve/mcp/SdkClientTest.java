package io.dyber.zernel.serve.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.cli.Zernel;
import io.dyber.zernel.serve.source.WrittenRecording;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The Java SDK's client understands the command `zernel mcp`, a process of its own.
@Timeout(120)
final class SdkClientTest {
    @TempDir
    private Path folder;

    @Test
    void theSdksClientListsAndCallsTheTools() {
        Path run = WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 12);
        ServerParameters server = ServerParameters.builder(Path.of(System.getProperty("java.home"), "bin", "java").toString())
                .args(
                        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED",
                        "--add-opens=java.base/java.nio=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                        "-cp", System.getProperty("java.class.path"), Zernel.class.getName(), "mcp", run.toString())
                .build();
        StdioClientTransport transport = new StdioClientTransport(server, McpJsonDefaults.getMapper());
        try (McpSyncClient client = McpClient.sync(transport).requestTimeout(Duration.ofSeconds(60))
                .initializationTimeout(Duration.ofSeconds(60)).build()) {
            McpSchema.InitializeResult hello = client.initialize();
            assertThat(hello.protocolVersion()).isEqualTo("2025-11-25");
            assertThat(hello.serverInfo().name()).isEqualTo("zernel");
            assertThat(client.listTools().tools()).extracting(McpSchema.Tool::name).containsExactly(
                    "overview", "findings", "explain", "query", "views", "steps", "ranks", "diff", "stacks");
            assertThat(client.listTools().tools()).allSatisfy(tool -> assertThat(tool.annotations().readOnlyHint()).isTrue());
            McpSchema.CallToolResult answer = client.callTool(query("SELECT count(*) AS n FROM steps"));
            assertThat(answer.isError()).isFalse();
            assertThat(String.valueOf(answer.structuredContent())).contains("rows=[{n=12}]");
            assertThat(client.callTool(query("INSTALL httpfs")).isError()).isTrue();
        }
    }

    private static McpSchema.CallToolRequest query(String sql) {
        return McpSchema.CallToolRequest.builder("query").arguments(Map.of("sql", sql)).build();
    }
}
