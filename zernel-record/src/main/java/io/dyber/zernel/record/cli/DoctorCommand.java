package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.MachineCheck.Check;
import io.dyber.zernel.record.MachineCheck;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.ObjectMapper;

/// `zernel-record doctor`: what this machine can record, and how to fix what it cannot.
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        descriptionHeading = "%n",
        description = {
            "Says what this machine can record and how to fix what it cannot.",
            "Exit status: 0 it can record, 1 it cannot.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  sudo zernel-record doctor",
            "  zernel-record doctor --json      what is missing without root",
            "",
            "Then: sudo zernel-record -o run.parquet -- python3 train.py"
        })
final class DoctorCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--json", description = "print the checks as JSON")
    private boolean json;

    @Override
    public Integer call() {
        List<Check> checks = MachineCheck.run();
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(checks));
        } else {
            checks.forEach(check -> print(out, check));
        }
        boolean able = checks.stream().allMatch(check -> check.ok() || !check.needed());
        if (!json) {
            out.println(able ? "this machine can record" : "this machine cannot record yet");
        }
        return able ? 0 : Record.ENVIRONMENT;
    }

    private static void print(PrintWriter out, Check check) {
        out.printf("%-4s %-10s %s%n", check.ok() ? "ok" : check.needed() ? "NO" : "no", check.subject(), check.finding());
        if (!check.fix().isEmpty()) {
            out.printf("%16s%s%n", "fix: ", check.fix());
        }
    }
}
