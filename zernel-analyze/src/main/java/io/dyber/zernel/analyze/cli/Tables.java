package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Questions;
import io.dyber.zernel.analyze.cli.TableCommand.Answer;
import io.dyber.zernel.analyze.cli.TableCommand.Choice;
import java.util.List;

/// The commands that print a table each; [Analyze] lists them with the others.
final class Tables {
    static final TableCommand STEPS = new TableCommand(
            "steps",
            List.of("Every step: its kind, phases, GPU work, and which rank was late."),
            Answer.of(Questions.steps("recording, pid, tid, step")),
            List.of(Choice.ofNumber(
                    "--slowest", "Only the N slowest, slowest first.", Answer.of(Questions.steps("dur_ns DESC, recording, pid, tid, step LIMIT ?")))),
            List.of("zernel-analyze steps run.parquet", "zernel-analyze steps --slowest 10 run.parquet"),
            "zernel-analyze timeline run.parquet",
            List.of(
                    "late_rank came last to the step's collectives, late_ns after the others.",
                    "step_kind is warmup, train, evaluation, checkpoint or profiler; evaluation_ns is the loop",
                    "before a step, in its time; confidence is 1 where PyTorch marks the step."));

    static final TableCommand PHASES = new TableCommand(
            "phases",
            List.of("Where each training thread's wall time went; sums to 100 %%."),
            Answer.of(phases("phases", "")),
            List.of(Choice.of(
                    "--parts", "Split phases into parts, such as forward and backward.", Answer.of(phases("phase_parts", ", total_ns DESC, part")))),
            List.of("zernel-analyze phases run.parquet", "zernel-analyze phases --parts --csv run.parquet"),
            "zernel-analyze findings run.parquet",
            List.of());

    static final TableCommand MEMORY = new TableCommand(
            "memory",
            List.of("GPU memory per process and device: allocated, peak, failed."),
            Answer.of("FROM memory_use"),
            List.of(Choice.of("--curve", "Over time, at most 60 points per process and device.", Answer.of("FROM memory_curve"))),
            List.of("zernel-analyze memory run.parquet", "zernel-analyze memory --curve --csv run.parquet"),
            "zernel-analyze findings --explain memory_growth",
            List.of());

    static final TableCommand NCCL = new TableCommand(
            "nccl",
            List.of("NCCL operations per communicator and size; which rank is late."),
            Answer.of("FROM collectives")
                    .orElse(
                            "no NCCL calls; waits of torch.distributed:",
                            """
                            SELECT processes.rank, dist_waits.*
                            FROM dist_waits
                            LEFT JOIN processes USING (recording, pid)
                            ORDER BY recording, rank, pid, sum_ns DESC, name"""),
            List.of(
                    Choice.of("--ranks", "How often each rank came last, how late, and why.", Answer.of("FROM late_ranks")),
                    Choice.of("--hangs", "Which rank never came to which collective, and what it did last.",
                            Answer.of("FROM hangs").ifEmpty("no hang was seen")),
                    Choice.of("--clocks", "By how much the clocks of machines differ, and how sure that is.", Answer.of("FROM host_clocks")),
                    Choice.of("--outstanding", "Collectives enqueued and not done, over time.", Answer.of("FROM outstanding_collectives")),
                    Choice.ofNumber("--latest", "The N collectives whose last rank came latest.",
                            Answer.of("FROM collective_arrivals ORDER BY skew_ns DESC, comm_id, number LIMIT ?"))),
            List.of(
                    "zernel-analyze nccl run.parquet",
                    "zernel-analyze nccl --ranks 'rank*.parquet'",
                    "zernel-analyze nccl --hangs 'rank*.parquet'"),
            "zernel-analyze steps 'rank*.parquet'",
            List.of());

    private static final String ONE_RANK = "no collectives of two ranks or more were recorded";

    static final TableCommand CRITICAL_PATH = new TableCommand(
            "critical-path",
            List.of("Which ranks, and what they did, the end of each step rested on."),
            Answer.of("FROM critical_steps").ifEmpty(ONE_RANK),
            List.of(
                    Choice.of("--ranks", "Each rank's share of the paths of all steps.", Answer.of("FROM critical_ranks").ifEmpty(ONE_RANK)),
                    Choice.of("--parts", "Each part of each path, in order.", Answer.of("FROM critical_path").ifEmpty(ONE_RANK)),
                    Choice.ofNumber("--longest", "The N steps with the longest paths.",
                            Answer.of("FROM critical_steps ORDER BY dur_ns DESC, job, step LIMIT ?").ifEmpty(ONE_RANK))),
            List.of(
                    "zernel-analyze critical-path 'rank*.parquet'",
                    "zernel-analyze critical-path --ranks 'rank*.parquet'",
                    "zernel-analyze critical-path --longest 10 'rank*.parquet'"),
            "zernel-analyze nccl --ranks 'rank*.parquet'",
            List.of());

    static final TableCommand IO = new TableCommand(
            "io",
            List.of("Reads per process or file: bytes, time blocked, from storage."),
            Answer.of("FROM reads"),
            List.of(Choice.of("--files", "Per file.", Answer.of("FROM reads_by_file"))),
            List.of("zernel-analyze io run.parquet", "zernel-analyze io --files --csv run.parquet"),
            "zernel-analyze sql run.parquet \"FROM reads\"",
            List.of());

    private static final String NO_GPU_ACTIVITY = 
            "no trace has GPU activity; give a trace of PyTorch's profiler with the recording, or record with --gpu-activity";

    private static final String NO_COUNTERS = "no hardware counters of GPUs were recorded; Hopper GPUs and newer have them";

    static final TableCommand GPU = new TableCommand(
            "gpu",
            List.of(
                    "What GPUs did, by a trace of PyTorch's profiler, or recorded",
                    "with --gpu-activity.",
                    "Busy, communication that nothing hides, idle.",
                    "Give the trace (.json or .json.gz, one of each rank) together with the recording of the same run."),
            Answer.of("FROM gpu_time").ifEmpty(NO_GPU_ACTIVITY),
            List.of(
                    Choice.of("--idle", "Why GPUs were idle, and for how long.", Answer.of("FROM gpu_idle_causes").ifEmpty(NO_GPU_ACTIVITY)),
                    Choice.of("--kernels", "Kernels and copies by name, and how long after their launch they began.",
                            Answer.of("FROM gpu_kernels").ifEmpty(NO_GPU_ACTIVITY)),
                    Choice.of("--counters", "Hardware counters while training: SMs, tensor cores, memory, links.",
                            Answer.of("FROM gpu_counters").ifEmpty(NO_COUNTERS)),
                    Choice.of("--traces", "The traces, and how well their clocks agree with the recordings'.",
                            Answer.of("FROM gpu_traces").ifEmpty(NO_GPU_ACTIVITY))),
            List.of(
                    "zernel-analyze gpu run.parquet trace.json.gz",
                    "zernel-analyze gpu --idle run.parquet trace.json.gz",
                    "zernel-analyze gpu --kernels --csv 'rank*.parquet' 'rank*.json.gz'"),
            "zernel-analyze export --perfetto run.parquet trace.json.gz",
            List.of());

    static final TableCommand ANOMALIES = new TableCommand(
            "anomalies",
            List.of("Steps, calls, ranks and GPUs far from their median, and why."),
            Answer.of("FROM anomalies"),
            List.of(),
            List.of("zernel-analyze anomalies run.parquet", "zernel-analyze anomalies --json 'rank*.parquet'"),
            "zernel-analyze steps --slowest 10 run.parquet",
            List.of());

    private Tables() {}

    private static String phases(String view, String moreOrder) {
        return """
                SELECT shown.* REPLACE (coalesce(words.label, shown.phase) AS phase)
                FROM %s AS shown
                LEFT JOIN phase_words AS words USING (recording, pid, phase)
                ORDER BY shown.recording, shown.pid, shown.tid, shown.phase%s""".formatted(view, moreOrder);
    }
}
