package io.dyber.zernel.serve.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/// `zernel record`: the command `zernel-record`, with the same arguments.
@Command(
        name = "record",
        description = "Record a job into a file: the same as zernel-record.",
        footer = {
            "",
            "Examples:",
            "  sudo zernel record -o run.parquet -- python3 train.py",
            "  zernel record --help",
            "",
            "Then: zernel analyze report run.parquet"
        })
final class RecordCommand implements Callable<Integer> {
    private static final int ENVIRONMENT = 1;

    @Unmatched
    private List<String> arguments = List.of();

    @Override
    public Integer call() throws Failure, InterruptedException {
        return run(arguments);
    }

    static int run(List<String> arguments) throws Failure, InterruptedException {
        LauncherProcess recorder = LauncherProcess.find("zernel-record");
        int code = recorder.run(arguments);
        if (code == ENVIRONMENT && !recorder.isInstalled()) {
            System.err.println("hint: sudo has a home, and so a JBang, of its own; to record, install zernel-record:"
                    + " https://github.com/dyber/zernel/blob/main/docs/install.md");
        }
        return code;
    }
}
