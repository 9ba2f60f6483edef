package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.recording.Recovery;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `zernel-record recover`: finishes a recording whose recorder was killed.
@Command(
        name = "recover",
        mixinStandardHelpOptions = true,
        descriptionHeading = "%n",
        description = {"Turns what a killed recorder left behind into the final file.", ""},
        footer = {
            "",
            "Examples:",
            "  zernel-record recover run.parquet",
            "  zernel-record recover run.parquet.live",
            "",
            "Then: zernel-analyze report run.parquet"
        })
final class RecoverCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "the output of the killed recorder")
    @SuppressWarnings("NullAway.Init")
    private Path output;

    @Override
    public Integer call() {
        Recovery.Result result = Recovery.recover(output);
        PrintWriter err = spec.commandLine().getErr();
        result.kept().ifPresent(kept -> err.println("zernel-record: kept the earlier recording as " + kept));
        err.printf(
                Locale.ROOT,
                "zernel-record: recovered %s: %,d events, %,d of them from the journal%n",
                result.output(),
                result.events(),
                result.journalEvents());
        return 0;
    }
}
