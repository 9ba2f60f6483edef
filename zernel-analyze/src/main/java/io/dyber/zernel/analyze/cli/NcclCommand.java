package io.dyber.zernel.analyze.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "nccl",
        mixinStandardHelpOptions = true,
        description = "NCCL operations per communicator and size; which rank is late.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze nccl run.parquet",
            "  zernel-analyze nccl --ranks 'rank*.parquet'",
            "  zernel-analyze nccl --hangs 'rank*.parquet'",
            "",
            "Then: zernel-analyze steps 'rank*.parquet'"
        })
final class NcclCommand implements Runnable {
    @ArgGroup(exclusive = true)
    Choice choice = new Choice();

    static final class Choice {
        @Option(names = "--ranks", description = "How often each rank came last, how late, and why.")
        boolean ranks;

        @Option(names = "--hangs", description = "Which rank never came to which collective, and what it did last.")
        boolean hangs;

        @Option(names = "--clocks", description = "By how much the clocks of machines differ, and how sure that is.")
        boolean clocks;

        @Option(names = "--outstanding", description = "Collectives enqueued and not done, over time.")
        boolean outstanding;

        @Option(names = "--latest", paramLabel = "N", converter = Count.class, description = "The N collectives whose last rank came latest.")
        @Nullable Integer latest;
    }

    @Mixin
    TableCommand table = new TableCommand();

    @Override
    public void run() {
        if (choice.ranks) {
            table.print("FROM late_ranks");
        } else if (choice.hangs) {
            table.printOr("no hang was seen", "FROM hangs");
        } else if (choice.clocks) {
            table.print("FROM host_clocks");
        } else if (choice.outstanding) {
            table.print("FROM outstanding_collectives");
        } else if (choice.latest != null) {
            table.print("FROM collective_arrivals ORDER BY skew_ns DESC, comm_id, number LIMIT ?", choice.latest);
        } else {
            table.printOrElse(
                    "FROM collectives",
                    "no NCCL calls; waits of torch.distributed:",
                    """
                    SELECT processes.rank, dist_waits.*
                    FROM dist_waits
                    LEFT JOIN processes USING (recording, pid)
                    ORDER BY recording, rank, pid, sum_ns DESC, name""");
        }
    }
}
