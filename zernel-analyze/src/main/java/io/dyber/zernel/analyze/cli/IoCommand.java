package io.dyber.zernel.analyze.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "io",
        mixinStandardHelpOptions = true,
        description = "Reads per process or file: bytes, time blocked, from storage.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze io run.parquet",
            "  zernel-analyze io --files --csv run.parquet",
            "",
            "Then: zernel-analyze sql run.parquet \"FROM reads\""
        })
final class IoCommand implements Runnable {
    @Option(names = "--files", description = "Per file.")
    boolean byFile;

    @Mixin
    TableCommand table = new TableCommand();

    @Override
    public void run() {
        table.print("FROM " + (byFile ? "reads_by_file" : "reads"));
    }
}
