package io.dyber.zernel.analyze.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "steps",
        mixinStandardHelpOptions = true,
        description = "Every step: its kind, phases, GPU work, and which rank was late.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze steps run.parquet",
            "  zernel-analyze steps --slowest 10 run.parquet",
            "",
            "Then: zernel-analyze timeline run.parquet",
            "",
            "late_rank came last to the step's collectives, late_ns after the others.",
            "step_kind is warmup, train, evaluation or checkpoint; evaluation_ns is the loop",
            "before a step, in its time; confidence is 1 where PyTorch marks the step."
        })
final class StepsCommand implements Runnable {
    @Option(names = "--slowest", paramLabel = "N", converter = Count.class, description = "Only the N slowest, slowest first.")
    @Nullable Integer slowest;

    @Mixin
    TableCommand table = new TableCommand();

    @Override
    public void run() {
        table.print(query());
    }

    private String query() {
        String order = slowest == null
                ? "recording, pid, tid, step"
                : "dur_ns DESC, recording, pid, tid, step LIMIT " + slowest;
        return """
                SELECT recording, pid, tid, step, steps.step_kind, dur_ns, data_loading_ns, gpu_compute_ns,
                    nccl_collective_ns, optimizer_step_ns, unknown_ns, evaluation_ns, batches, launches, copied_bytes, allocs, syncs,
                    sync_ns, collectives, late_rank, late_ns, source, confidence
                FROM steps
                LEFT JOIN step_work USING (recording, pid, tid, step, start_ns, end_ns, dur_ns, step_kind)
                LEFT JOIN step_late_ranks USING (recording, pid, tid, step)
                ORDER BY\s""" + order;
    }
}
