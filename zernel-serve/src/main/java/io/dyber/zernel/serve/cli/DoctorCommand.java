package io.dyber.zernel.serve.cli;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/// `zernel doctor`: the command `zernel-record doctor`, with the same arguments.
@Command(
        name = "doctor",
        description = "Say what this machine can record: the same as zernel-record doctor.",
        footer = {
            "",
            "Examples:",
            "  sudo zernel doctor",
            "  zernel doctor --json",
            "",
            "Then: sudo zernel record -o run.parquet -- python3 train.py"
        })
final class DoctorCommand implements Callable<Integer> {
    @Unmatched
    private List<String> arguments = List.of();

    @Override
    public Integer call() throws Failure, InterruptedException {
        return run(arguments);
    }

    static int run(List<String> arguments) throws Failure, InterruptedException {
        return LauncherProcess.find("zernel-record")
                .run(Stream.concat(Stream.of("doctor"), arguments.stream()).toList());
    }
}
