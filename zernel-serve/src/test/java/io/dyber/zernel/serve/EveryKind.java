package io.dyber.zernel.serve;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.analysis.Inferred;
import io.dyber.zernel.serve.source.Facts;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// Events that give every metric a series.
final class EveryKind {
    static final long START = 1_700_000_000_000_000_000L;

    private static final String NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    private static final long MS = 1_000_000;
    static final String CONTAINER = "0123456789abcdef".repeat(4);
    /// Of a device.
    private static final Map<String, Integer> SAMPLES = Map.ofEntries(
            Map.entry("utilization", 75),
            Map.entry("memory_utilization", 50),
            Map.entry("sm_active", 770_000),
            Map.entry("sm_occupancy", 410_000),
            Map.entry("tensor_active", 220_000),
            Map.entry("fp64_active", 0),
            Map.entry("fp32_active", 180_000),
            Map.entry("fp16_active", 10_000),
            Map.entry("int_active", 90_000),
            Map.entry("dram_active", 460_000),
            Map.entry("nvlink_tx", 4096),
            Map.entry("nvlink_rx", 8192),
            Map.entry("memory_total", 80_000),
            Map.entry("memory_used", 20_000),
            Map.entry("power", 250_000),
            Map.entry("power_limit", 700_000),
            Map.entry("energy", 5_000_000),
            Map.entry("temperature", 61),
            Map.entry("fan", 30),
            Map.entry("encoder", 1),
            Map.entry("decoder", 2),
            Map.entry("clock_sm", 1980),
            Map.entry("clock_mem", 2619),
            Map.entry("pcie_tx", 1024),
            Map.entry("pcie_rx", 2048),
            Map.entry("ecc_errors", 1),
            Map.entry("ecc_corrected", 3),
            Map.entry("xid", 79),
            Map.entry("throttle", 4));

    private EveryKind() {}

    /// What the analyzer infers from them.
    static Inferences inferences() {
        Inferences inferences = new Inferences(true);
        inferences.add(List.of(
                new Inferred.Late(1, START + 80 * MS, 0),
                new Inferred.Late(3, START + 82 * MS, 2 * MS),
                new Inferred.Skew("ncclAllReduce", START + 82 * MS, 2 * MS),
                new Inferred.Step(1, START, START + 100 * MS, 30 * MS, 50 * MS, 5 * MS, 10 * MS, 5 * MS)));
        inferences.knownUntil(Long.MAX_VALUE);
        return inferences;
    }

    /// Those that the analyzer infers this from, as a recording.
    static Path recording(Path file) {
        return WrittenRecording.write(file, """
                SELECT kind, name, %d + start * 1000000 AS ts_ns, dur * 1000000 AS dur_ns, pid, pid AS tid,
                       CASE WHEN kind = 'nccl' THEN 99 END AS comm_id, CASE WHEN kind = 'nccl' THEN 0 END AS seq,
                       CASE WHEN kind = 'nccl' THEN CAST(pid = 3 AS BIGINT) END AS rank,
                       CASE WHEN kind = 'nccl' THEN 2 END AS nranks
                FROM (VALUES
                    ('region', '%s', 0, 30, 1), ('backward', 'Engine::execute', 40, 40, 1),
                    ('nccl', 'ncclAllReduce', 80, 5, 1), ('nccl', 'ncclAllReduce', 82, 3, 3),
                    ('region', 'Optimizer.step#AdamW.step', 90, 10, 1), ('region', '%s', 100, 30, 1)
                ) AS e(kind, name, start, dur, pid)
                """.formatted(START, NEXT, NEXT));
    }

    /// What the recording says of who they are.
    static Facts facts() {
        return Facts.of(Map.of(
                Footer.RECORDING, """
                        {"version": "0.1.0", "host": "node7", "kernel": "6.8.0", "arch": "x86_64", "cpus": 8}""",
                Footer.PROCESSES, """
                        [{"pid": 1, "ppid": 0, "comm": "python3", "environment":
                            {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2"},
                          "cgroup": "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/cri-containerd-%s.scope"},
                         {"pid": 3, "ppid": 0, "comm": "python3", "environment": {"SLURM_PROCID": "1"}}]""".formatted(CONTAINER),
                Footer.GPUS, """
                        {"driver": "570.00.77", "devices":
                            [{"index": 1, "name": "H100", "uuid": "GPU-1", "pci": "00000000:3B:00.0"}]}"""));
    }

    /// What the analyzer is said to find in them.
    static Findings findings() {
        return new Findings(1, "run.parquet", "", List.of(
                new Findings.Found("data_bound", "Waiting for data", "rank 0 (pid 1)", "critical", 30.0, 1.4, "", "", "", List.of()),
                new Findings.Found("data_bound", "Waiting for data", "rank 0 (pid 1)", "warning", 10.0, 1.1, "", "", "", List.of()),
                new Findings.Found("lost_events", "Events were lost", "io", "warning", null, null, "", "", "", List.of())),
                List.of());
    }

    static Events events() {
        Events events = new Events()
                .add("region", NEXT, 1, START, 30 * MS)
                .add("cuda_launch", "cuLaunchKernel", 1, START + 31 * MS, 10_000)
                .add("cuda_launch", "cuLaunchKernel", 1, START + 32 * MS, 20_000)
                .add("cuda_sync", "cudaStreamSynchronize", 1, START + 33 * MS, MS)
                .add("cuda_copy", "cudaMemcpyAsync", 1, START + 35 * MS, MS)
                .with(LongColumn.BYTES, 4096)
                .with(TextColumn.COPY_KIND, "h2d")
                .add("backward", "Engine::execute", 1, START + 40 * MS, 40 * MS)
                .add("nccl", "ncclAllReduce", 1, START + 80 * MS, 5 * MS)
                .with(LongColumn.BYTES, 1_000_000)
                .with(LongColumn.COMM_ID, 99)
                .with(LongColumn.SEQ, 0)
                .with(LongColumn.RANK, 0)
                .with(LongColumn.NRANKS, 2)
                .add("nccl", "ncclAllReduce", 3, START + 82 * MS, 3 * MS)
                .with(LongColumn.COMM_ID, 99)
                .with(LongColumn.SEQ, 0)
                .with(LongColumn.RANK, 1)
                .with(LongColumn.NRANKS, 2)
                .add("region", "Optimizer.step#AdamW.step", 1, START + 90 * MS, 10 * MS)
                .add("region", NEXT, 1, START + 100 * MS, 30 * MS)
                .add("gpu_alloc", "cuMemAlloc_v2", 1, START, 1000)
                .with(LongColumn.BYTES, 3000)
                .with(LongColumn.ADDR, 1)
                .with(LongColumn.DEVICE, 1)
                .add("gpu_alloc", "cuMemAlloc_v2", 1, START, 1000)
                .with(LongColumn.BYTES, 2000)
                .with(LongColumn.ADDR, 2)
                .with(LongColumn.DEVICE, 1)
                .add("gpu_free", "cuMemFree_v2", 1, START + MS, 1000)
                .with(LongColumn.ADDR, 2)
                .add("torch_alloc", "malloc", 1, START, 0)
                .with(LongColumn.BYTES, 500)
                .with(LongColumn.ADDR, 3)
                .add("dist_wait", "Work::wait", 1, START + 85 * MS, MS)
                .add("call", "compress2", 2, START, 2 * MS)
                .add("gpu_process", "sm", 1, START, 0)
                .with(LongColumn.VALUE, 40)
                .with(LongColumn.DEVICE, 1)
                .add("gpu_process", "memory_used", 1, START, 0)
                .with(LongColumn.VALUE, 7000)
                .with(LongColumn.DEVICE, 1)
                .add("io", "read", 2, START, 200_000)
                .with(LongColumn.BYTES, 1000)
                .add("wait", "futex", 2, START, 5 * MS)
                .add("lost", "io", 0, START, 0)
                .with(LongColumn.COUNT, 17);
        SAMPLES.forEach((name, value) -> events.add("gpu_sample", name, 0, START, 0)
                .with(LongColumn.VALUE, value)
                .with(LongColumn.DEVICE, 1));
        return events;
    }
}
