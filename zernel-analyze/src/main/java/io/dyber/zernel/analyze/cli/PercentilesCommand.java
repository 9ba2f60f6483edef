package io.dyber.zernel.analyze.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "percentiles",
        mixinStandardHelpOptions = true,
        description = {
            "Percentiles of durations per kind and name.",
            "Exact, or within 1 %% where --memory is too small (column error)."
        },
        footer = {
            "",
            "Examples:",
            "  zernel-analyze percentiles run.parquet",
            "  zernel-analyze percentiles --by-process --kind wait run.parquet",
            "",
            "Then: zernel-analyze anomalies run.parquet"
        })
final class PercentilesCommand implements Runnable {
    @Option(names = "--by-process", description = "Per process, too.")
    boolean byProcess;

    @Option(names = "--kind", paramLabel = "KIND", description = "Only this kind of event.")
    @Nullable String kind;

    @Mixin
    TablePrinter table = new TablePrinter();

    @Override
    public void run() {
        String sql = "FROM " + (byProcess ? "process_percentiles" : "percentiles");
        if (kind == null) {
            table.print(TableCommand.Answer.of(sql));
        } else {
            table.printOfKinds(List.of(kind), TableCommand.Answer.of(sql + " WHERE kind = ?"), kind);
        }
    }
}
