package io.dyber.zernel.analyze.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "anomalies",
        mixinStandardHelpOptions = true,
        description = "Steps, calls, ranks and GPUs far from their median, and why.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze anomalies run.parquet",
            "  zernel-analyze anomalies --json 'rank*.parquet'",
            "",
            "Then: zernel-analyze steps --slowest 10 run.parquet"
        })
final class AnomaliesCommand implements Runnable {
    @Mixin
    TableCommand table = new TableCommand();

    @Override
    public void run() {
        table.print("FROM anomalies");
    }
}
