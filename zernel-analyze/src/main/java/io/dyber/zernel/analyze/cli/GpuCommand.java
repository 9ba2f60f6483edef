package io.dyber.zernel.analyze.cli;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "gpu",
        mixinStandardHelpOptions = true,
        description = {
            "What GPUs did, by a trace of PyTorch's profiler.",
            "Busy, communication that nothing hides, idle.",
            "Give the trace (.json or .json.gz, one of each rank) beside the recording of the same run."
        },
        footer = {
            "",
            "Examples:",
            "  zernel-analyze gpu run.parquet trace.json.gz",
            "  zernel-analyze gpu --idle run.parquet trace.json.gz",
            "  zernel-analyze gpu --kernels --csv 'rank*.parquet' 'rank*.json.gz'",
            "",
            "Then: zernel-analyze export --perfetto run.parquet trace.json.gz"
        })
final class GpuCommand implements Runnable {
    @ArgGroup(exclusive = true)
    Choice choice = new Choice();

    static final class Choice {
        @Option(names = "--idle", description = "Why GPUs were idle, and for how long.")
        boolean idle;

        @Option(names = "--kernels", description = "Kernels and copies by name, and how long after their launch they began.")
        boolean kernels;

        @Option(names = "--traces", description = "The traces, and how well their clocks agree with the recordings'.")
        boolean traces;
    }

    @Mixin
    TableCommand table = new TableCommand();

    @Override
    public void run() {
        String view = choice.idle
                ? "gpu_idle_causes"
                : choice.kernels ? "gpu_kernels" : choice.traces ? "gpu_traces" : "gpu_time";
        table.printOr("no trace has GPU activity; give a trace of PyTorch's profiler with the recording", "FROM " + view);
    }
}
