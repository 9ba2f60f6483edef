package io.dyber.zernel.serve.cli;

import io.dyber.zernel.serve.mcp.McpServer;
import io.dyber.zernel.serve.mcp.OpenedRecordings;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `zernel mcp`: the analyzer for agents.
@Command(
        name = "mcp",
        description = {
            "Let an agent ask a recording: a server of the Model Context Protocol.",
            "It speaks on standard input and output until input ends, and only reads:",
            "no other file, no write, no network."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "A client starts it; docs/agents.md shows how one is told to.",
            "",
            "Examples:",
            "  zernel mcp run.parquet",
            "  zernel mcp 'rank*.parquet' --before before.parquet",
            "",
            "Then: ask the agent why the job is slow, or zernel analyze report run.parquet"
        })
final class McpCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", arity = "1..*",
            description = "Recordings: files, globs, .live folders; several are one job.")
    private List<String> files = List.of();

    @Option(names = "--before", paramLabel = "FILE", description = "A recording that the tool diff compares with.")
    private @Nullable String before;

    @Override
    public Integer call() throws IOException {
        PrintStream protocol = System.out;
        PrintWriter err = spec.commandLine().getErr();
        // Whatever a library prints, protocol is all that a client gets.
        System.setOut(System.err);
        try (OpenedRecordings recordings = OpenedRecordings.open(files, before)) {
            new McpServer(recordings, defect -> defect.printStackTrace(err)).serve(System.in, protocol);
            return 0;
        } finally {
            System.setOut(protocol);
        }
    }
}
