package io.dyber.zernel.serve.cli;

import io.dyber.zernel.serve.analysis.Findings.Found;
import io.dyber.zernel.serve.analysis.MeasuredSteps;
import io.dyber.zernel.serve.demo.DemoText;
import io.dyber.zernel.serve.demo.Workload;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `zernel demo`: records a slow job, takes the advice that the recording gives, records it again and compares; then reports
/// a simulated job with a GPU.
@Command(
        name = "demo",
        description = {
            "Record a small job that waits for data, say why, take the advice, record it again and compare:",
            "a PyTorch training where PyTorch is installed, else a C program. Then a simulated GPU job's report.",
            "Where this machine does not allow probes, that report is all. Says which and why."
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
    private static final String ENDING = ".parquet";

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = {"-o", "--output"}, paramLabel = "FILE", defaultValue = "run.parquet",
            description = "The recording. Default: ${DEFAULT-VALUE}; others are written beside it.")
    @SuppressWarnings("NullAway.Init")
    private Path output;

    @Option(names = "--simulate", description = "Do not record anything: simulate a recording.")
    private boolean simulate;

    @Override
    public Integer call() throws Failure, IOException, InterruptedException {
        LauncherProcess recorder = LauncherProcess.find("zernel-record");
        if (simulate) {
            return simulate(recorder, output, "because --simulate asks for it");
        }
        int code = record(recorder);
        if (code == ENVIRONMENT) {
            return simulate(recorder, output, "because the recorder could not record here, for the reason above");
        }
        return code == 0 ? simulate(recorder, beside("-simulated"), "to show one that has a GPU") : code;
    }

    private int record(LauncherProcess recorder) throws Failure, IOException, InterruptedException {
        Path folder = Files.createTempDirectory("zernel-demo");
        try {
            // The job runs as the user who called sudo, and its file lies here.
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            say("looking for a job to record");
            Workload job = Workload.choose(System.getenv(), folder);
            say("recording " + job.what() + ", because " + job.why());
            int code = record(recorder, job, output);
            return code == 0 ? fix(recorder, job) : code;
        } finally {
            delete(folder);
        }
    }

    private static int record(LauncherProcess recorder, Workload job, Path file) throws Failure, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("--quiet", "-o", file.toString()));
        arguments.addAll(job.options());
        arguments.add("--");
        arguments.addAll(job.command());
        return recorder.run(arguments);
    }

    /// Takes the advice of the first recording, and holds the second against what was promised.
    private int fix(LauncherProcess recorder, Workload job) throws Failure, InterruptedException {
        MeasuredSteps before = MeasuredSteps.of(output);
        for (Found found : before.findings()) {
            Optional<Workload.Remedy> remedy = job.remedy(found.name(), found.advice());
            Optional<DemoText.Verdict> verdict = verdict(found, before);
            if (remedy.isPresent() && verdict.isPresent()) {
                print(DemoText.found(verdict.get()));
                Path after = beside("-fixed");
                say("recording it again: " + remedy.get().what());
                int code = record(recorder, remedy.get().job(), after);
                if (code == 0) {
                    double millis = MeasuredSteps.of(after).millis().orElseThrow(
                            () -> new Failure("reading '" + after + "': it has no training steps", null));
                    print(DemoText.fixed(verdict.get(), remedy.get().what(), millis));
                    print(List.of("  next  zernel analyze diff " + output + " " + after, ""));
                }
                return code;
            }
        }
        say("nothing that this job could do better was found; the whole report: zernel analyze report " + output);
        return 0;
    }

    private static Optional<DemoText.Verdict> verdict(Found found, MeasuredSteps steps) {
        Double lost = found.lostMsPerStep();
        Double speedup = found.maxSpeedup();
        return lost == null || speedup == null || steps.millis().isEmpty()
                ? Optional.empty()
                : Optional.of(new DemoText.Verdict(found.title(), found.subject(), steps.millis().getAsDouble(), lost, speedup,
                        found.evidence(), found.advice()));
    }

    private int simulate(LauncherProcess recorder, Path file, String why) throws Failure, InterruptedException {
        say("simulating a job, " + why + "; nothing in it was measured");
        int code = recorder.run(List.of("--simulate=launch-bound", "--steps", "100", "--quiet", "-o", file.toString()));
        if (code == 0) {
            code = LauncherProcess.find("zernel-analyze").run(List.of("report", file.toString()));
            say("recorded: " + output + "; replay it as live metrics: zernel serve " + output);
        }
        return code;
    }

    /// A file whose name has `mark` before its ending.
    private Path beside(String mark) {
        String name = String.valueOf(output.getFileName());
        String stem = name.endsWith(ENDING) ? name.substring(0, name.length() - ENDING.length()) : name;
        return output.resolveSibling(stem + mark + ENDING);
    }

    private void print(List<String> lines) {
        PrintWriter out = spec.commandLine().getOut();
        lines.forEach(out::println);
        out.flush();
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
