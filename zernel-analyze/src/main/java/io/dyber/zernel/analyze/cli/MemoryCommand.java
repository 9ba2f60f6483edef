package io.dyber.zernel.analyze.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "memory",
        mixinStandardHelpOptions = true,
        description = "GPU memory per process and device: allocated, peak, failed.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze memory run.parquet",
            "  zernel-analyze memory --curve --csv run.parquet",
            "",
            "Then: zernel-analyze findings --explain memory_growth"
        })
final class MemoryCommand implements Runnable {
    @Option(names = "--curve", description = "Over time, at most 60 points per process and device.")
    boolean curve;

    @Mixin
    TableCommand table = new TableCommand();

    @Override
    public void run() {
        table.print("FROM " + (curve ? "memory_curve" : "memory_use"));
    }
}
