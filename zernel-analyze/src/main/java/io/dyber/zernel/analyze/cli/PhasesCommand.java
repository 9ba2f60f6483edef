package io.dyber.zernel.analyze.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "phases",
        mixinStandardHelpOptions = true,
        description = "Where each training thread's wall time went; sums to 100 %%.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze phases run.parquet",
            "  zernel-analyze phases --parts --csv run.parquet",
            "",
            "Then: zernel-analyze findings run.parquet"
        })
final class PhasesCommand implements Runnable {
    @Option(names = "--parts", description = "Split phases into parts, such as forward and backward.")
    boolean parts;

    @Mixin
    TableCommand table = new TableCommand();

    @Override
    public void run() {
        table.print("""
                SELECT shown.* REPLACE (coalesce(words.label, shown.phase) AS phase)
                FROM %s AS shown
                LEFT JOIN phase_words AS words USING (recording, pid, phase)
                ORDER BY shown.recording, shown.pid, shown.tid, shown.phase%s
                """.formatted(parts ? "phase_parts" : "phases", parts ? ", total_ns DESC, part" : ""));
    }
}
