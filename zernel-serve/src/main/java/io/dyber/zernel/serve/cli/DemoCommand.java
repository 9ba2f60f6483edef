package io.dyber.zernel.serve.cli;

import io.dyber.zernel.serve.demo.Workload;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `zernel demo`: records a job with real probes where that is possible, and prints the report.
@Command(
        name = "demo",
        description = {
            "Record a small job and report it: a PyTorch training where PyTorch is installed, else a stand-in.",
            "Where this machine does not allow probes, a simulated recording takes its place. Says which and why."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Examples:",
            "  sudo zernel demo",
            "  zernel demo --simulate -o simulated.parquet",
            "",
            "Then: zernel serve run.parquet"
        })
final class DemoCommand implements Callable<Integer> {
    private static final int ENVIRONMENT = 1;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = {"-o", "--output"}, paramLabel = "FILE", defaultValue = "run.parquet",
            description = "The recording. Default: ${DEFAULT-VALUE}")
    @SuppressWarnings("NullAway.Init")
    private Path output;

    @Option(names = "--simulate", description = "Do not record anything: simulate a recording.")
    private boolean simulate;

    @Override
    public Integer call() throws Failure, IOException, InterruptedException {
        LauncherProcess recorder = LauncherProcess.find("zernel-record");
        int code = simulate ? simulate(recorder, "--simulate asks for it") : record(recorder);
        if (code != 0) {
            return code;
        }
        say("reporting: zernel-analyze report " + output);
        code = LauncherProcess.find("zernel-analyze").run(List.of("report", output.toString()));
        say("the recording is " + output + "; replay it as live metrics: zernel serve " + output);
        return code;
    }

    private int record(LauncherProcess recorder) throws Failure, IOException, InterruptedException {
        Path folder = Files.createTempDirectory("zernel-demo");
        try {
            // The job runs as the user who called sudo, and its script lies here.
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            say("looking for a job to record");
            Workload workload = Workload.choose(System.getenv(), folder);
            say("recording " + workload.what() + ", because " + workload.why());
            List<String> arguments = new ArrayList<>(List.of("-o", output.toString()));
            arguments.addAll(workload.options());
            arguments.add("--");
            arguments.addAll(workload.command());
            int code = recorder.run(arguments);
            return code == ENVIRONMENT
                    ? simulate(recorder, "the recorder could not record here, for the reason above")
                    : code;
        } finally {
            delete(folder);
        }
    }

    private int simulate(LauncherProcess recorder, String why) throws Failure, InterruptedException {
        say("simulating a recording, because " + why + "; nothing in it was measured");
        return recorder.run(List.of("--simulate=data-bound-cpu", "-o", output.toString()));
    }

    private void say(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("zernel demo: " + line);
        err.flush();
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
