package io.dyber.zernel.serve.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/// `zernel analyze`: the command `zernel-analyze`, with the same arguments.
@Command(
        name = "analyze",
        description = "Report what to fix in a recording: the same as zernel-analyze.",
        footer = {
            "",
            "Examples:",
            "  zernel analyze report run.parquet",
            "  zernel analyze --help",
            "",
            "Then: zernel serve run.parquet"
        })
final class AnalyzeCommand implements Callable<Integer> {
    @Unmatched
    private List<String> arguments = List.of();

    @Override
    public Integer call() throws Failure, InterruptedException {
        return run(arguments);
    }

    static int run(List<String> arguments) throws Failure, InterruptedException {
        return LauncherProcess.find("zernel-analyze").run(arguments);
    }
}
