package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.probe.Probe;
import io.dyber.zernel.record.probe.Probes;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `zernel-record probes`: the kinds of events and where they are seen.
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = {"", "Lists the kinds of events.", ""})
final class DoctorCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        for (Probe probe : Probes.all()) {
            out.printf("%-10s %s%n", probe.kind(), probe.summary());
        }
        return 0;
    }
}
