package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.sql.GoldenSchema;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.duckdb.DuckDBConnection;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/// Writes tiny recordings with the golden schema. Times are milliseconds after an arbitrary start.
@NullMarked
public final class RecordingFixture {
    /// `ts_ns` of the fixture's millisecond 0.
    public static final long START_NS = 1_800_000_000_000_000_000L;

    public static final String NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    public static final String STEP = "Optimizer.step#AdamW.step";
    public static final String ZERO_GRAD = "Optimizer.zero_grad#AdamW.zero_grad";

    private final List<String> statements = new ArrayList<>();
    /// The rows since the last statement, one INSERT for each set of columns: DuckDB takes as long for a statement as for many rows.
    private final Map<String, StringJoiner> rows = new LinkedHashMap<>();
    private final Map<String, String> footer = new LinkedHashMap<>();
    private long pid = 100;
    private long tid = 100;
    private String comm = "python3";

    private RecordingFixture() {
        footer.put("zernel.format", "1");
        footer.put(
                "zernel.recording",
                """
                {"version":"0.1.0","simulated":false,"host":"box","kernel":"6.12.0","arch":"x86_64","cpus":8,
                "command":["python3","train.py"],"options":[],"started_ns":1800000000000000000,
                "ended_ns":1800000010000000000,"stop":"command-exited","complete":true,"incomplete_because":[],
                "events":10}
                """);
        footer.put(
                "zernel.schema",
                """
                {"columns":[{"name":"dur_ns","type":"BIGINT","unit":"ns","comment":"how long it took"}],
                "kinds":[{"kind":"region","comment":"PyTorch region","columns":["kind","name","ts_ns","dur_ns"]},
                {"kind":"io","comment":"read calls","columns":["fd","bytes","status"]}]}
                """);
        footer.put("zernel.kinds", "[{\"kind\":\"region\",\"state\":\"attached\",\"why\":null,\"events\":10}]");
    }

    public static RecordingFixture recording() {
        return new RecordingFixture();
    }

    /// The thread of the events that follow.
    public RecordingFixture on(long process, long thread, String name) {
        pid = process;
        tid = thread;
        comm = name;
        return this;
    }

    public RecordingFixture region(String name, double startMs, double durMs) {
        return event("region", name, startMs, durMs, "");
    }

    public RecordingFixture backward(double startMs, double durMs) {
        return event("backward", "Engine::execute", startMs, durMs, "");
    }

    public RecordingFixture io(double startMs, double durMs, long bytes) {
        return event("io", "read", startMs, durMs, "fd = 3, bytes = " + bytes + ", status = 0");
    }

    public RecordingFixture waiting(String name, double startMs, double durMs) {
        return event("wait", name, startMs, durMs, "status = 0");
    }

    public RecordingFixture fork(double atMs, long child) {
        return event("process", "fork", atMs, null, "child_pid = " + child + ", child_tid = " + child);
    }

    /// A kernel launch by the runtime, with the driver's call inside it.
    public RecordingFixture launch(String kernel, double startMs, double durMs) {
        String columns = "status = 0, stream = 7, kernel = " + quote(kernel) + ", depth = ";
        return event("cuda_launch", "cudaLaunchKernel", startMs, durMs, columns + 0)
                .event("cuda_launch", "cuLaunchKernel", startMs, durMs / 2, columns + 1);
    }

    /// A copy; `host` is `pinned` or `pageable`.
    public RecordingFixture copy(String direction, String host, double startMs, double durMs, long bytes) {
        return event("cuda_copy", "cudaMemcpyAsync", startMs, durMs, "status = 0, depth = 0, async = 1, bytes = " + bytes
                + ", copy_kind = " + quote(direction) + ", host_memory = " + quote(host));
    }

    public RecordingFixture sync(double startMs, double durMs) {
        return event("cuda_sync", "cudaStreamSynchronize", startMs, durMs, "status = 0, depth = 0");
    }

    public RecordingFixture gpuAlloc(double startMs, double durMs, long bytes, int status) {
        return event("gpu_alloc", "cudaMalloc", startMs, durMs, "status = " + status + ", depth = 0, device = 0, bytes = "
                + bytes);
    }

    /// A release; the bytes of an allocation that was not seen are `NULL`.
    public RecordingFixture gpuFree(double startMs, double durMs, String bytes) {
        return event("gpu_free", "cudaFree", startMs, durMs, "status = 0, depth = 0, device = 0, addr = 4096, bytes = "
                + bytes);
    }

    public RecordingFixture torchAlloc(double atMs, long bytes) {
        return event("torch_alloc", "pytorch:malloc", atMs, null, "device = 0, bytes = " + bytes);
    }

    public RecordingFixture torchFree(double atMs, long bytes) {
        return event("torch_free", "pytorch:free", atMs, null, "device = 0, bytes = " + bytes);
    }

    /// An all-reduce of communicator 77, which has two ranks.
    public RecordingFixture allReduce(int rank, int seq, double startMs, double durMs, long bytes) {
        return event("nccl", "ncclAllReduce", startMs, durMs, "status = 0, depth = 0, op = 'sum', dtype = 'float32', "
                + "communicator = " + (500 + rank) + ", comm_id = 77, nranks = 2, rank = " + rank + ", seq = " + seq
                + ", bytes = " + bytes);
    }

    public RecordingFixture gpuSample(String metric, double atMs, long value, String unit) {
        return event("gpu_sample", metric, atMs, null, "device = 0, value = " + value + ", unit = " + quote(unit));
    }

    /// A value of the machine; of a cgroup or link where `object` is not empty.
    public RecordingFixture hostSample(String name, String object, double atMs, long value) {
        return event("host_sample", name, atMs, null, "pid = NULL, tid = NULL, comm = NULL, cpu = NULL, value = " + value
                + (object.isEmpty() ? "" : ", object = " + quote(object)));
    }

    /// A value of a process, with the cgroup that limits it where there is one.
    public RecordingFixture processSample(long process, String name, String group, double atMs, long value) {
        return event("host_sample", name, atMs, null, "pid = " + process + ", tid = NULL, cpu = NULL, value = " + value
                + (group.isEmpty() ? "" : ", object = " + quote(group)));
    }

    /// A call that blocked its thread, with the stack that it was called from; further columns as in [#event].
    public RecordingFixture blocked(String kind, String name, double startMs, double durMs, String stack, String... columns) {
        return event(kind, name, startMs, durMs, String.join(", ", columns) + (columns.length == 0 ? "" : ", ") + "stack = " + quote(stack));
    }

    /// A sample that found the thread on a CPU and stands for 20 ms there.
    public RecordingFixture sample(double atMs, String stack) {
        return event("sample", "on-cpu", atMs, null, "period_ns = 20000000, stack = " + quote(stack));
    }

    /// One that found it in the kernel.
    public RecordingFixture sample(double atMs, String stack, int kernelEntry) {
        return event("sample", "on-cpu", atMs, null,
                "period_ns = 20000000, kernel_entry = " + kernelEntry + ", stack = " + quote(stack));
    }

    /// One event; `columns` is a list of assignments to further columns.
    public RecordingFixture event(
            String kind, @Nullable String name, double startMs, @Nullable Double durMs, String columns) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("kind", quote(kind));
        values.put("name", name == null ? "NULL" : quote(name));
        values.put("ts_ns", Long.toString(START_NS + Math.round(startMs * 1e6)));
        values.put("dur_ns", durMs == null ? "NULL" : Long.toString(Math.round(durMs * 1e6)));
        values.put("pid", Long.toString(pid));
        values.put("tid", Long.toString(tid));
        values.put("cpu", "1");
        values.put("comm", quote(comm));
        for (String assignment : columns.isEmpty() ? new String[0] : columns.split(", ", -1)) {
            values.put(assignment.split(" = ", 2)[0], assignment.split(" = ", 2)[1]);
        }
        String insert = "INSERT INTO events (" + String.join(", ", values.keySet()) + ") VALUES ";
        rows.computeIfAbsent(insert, start -> new StringJoiner(", ", start, ""))
                .add("(" + String.join(", ", values.values()) + ")");
        return this;
    }

    /// A training of `steps` steps of `next + 10 + 20 + 5` ms: `__next__`, forward gap, backward, optimizer step.
    public RecordingFixture training(int steps, double nextMs) {
        double at = 0;
        for (int i = 0; i < steps; i++) {
            region(NEXT, at, nextMs).backward(at + nextMs + 10, 20).region(STEP, at + nextMs + 30, 5);
            at += nextMs + 35;
        }
        return this;
    }

    /// Sets or, with null, removes a footer key.
    public RecordingFixture footer(String key, @Nullable String json) {
        if (json == null) {
            footer.remove(key);
        } else {
            footer.put(key, json);
        }
        return this;
    }

    /// Runs a statement on the table `events` before it is written.
    public RecordingFixture alter(String sql) {
        insertRows();
        statements.add(sql);
        return this;
    }

    /// What a finding says of this recording, written to a folder; each bound is one that is possible.
    List<Finding> findings(String name, Path folder) {
        Path file = write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            List<Finding> findings = Finding.run(Objects.requireNonNull(database.library().find(name)), database);
            assertThat(PossibleBounds.violations(findings)).isEmpty();
            return findings;
        }
    }

    /// The only row of it.
    Finding finding(String name, Path folder) {
        List<Finding> findings = findings(name, folder);
        assertThat(findings).hasSize(1);
        return findings.getFirst();
    }

    public Path write(Path file) {
        insertRows();
        try (Connection connection = Writer.DUCKDB.duplicate();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false); // one transaction for all rows
            statement.execute(GoldenSchema.text().replace("CREATE TABLE", "CREATE TEMP TABLE"));
            for (String sql : statements) {
                statement.execute(sql);
            }
            String metadata = footer.entrySet().stream()
                    .map(entry -> quote(entry.getKey()) + ": " + quote(entry.getValue()))
                    .collect(Collectors.joining(", "));
            statement.execute("COPY (FROM events ORDER BY ALL) TO " + quote(file.toString())
                    + " (FORMAT parquet" + (metadata.isEmpty() ? "" : ", KV_METADATA {" + metadata + "}") + ")");
            return file;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void insertRows() {
        rows.values().forEach(insert -> statements.add(insert.toString()));
        rows.clear();
    }

    /// One DuckDB for all recordings of a JVM, as it takes longer to start than to write one; each has tables of its own.
    private static final class Writer {
        static final DuckDBConnection DUCKDB = started();

        private static DuckDBConnection started() {
            try {
                return DriverManager.getConnection("jdbc:duckdb:").unwrap(DuckDBConnection.class);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static String quote(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
