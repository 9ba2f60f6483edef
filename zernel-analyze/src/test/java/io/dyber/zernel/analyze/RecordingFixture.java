package io.dyber.zernel.analyze;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
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

    private final List<String> inserts = new ArrayList<>();
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
        inserts.add("INSERT INTO events (" + String.join(", ", values.keySet()) + ") VALUES ("
                + String.join(", ", values.values()) + ")");
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
        inserts.add(sql);
        return this;
    }

    public Path write(Path file) {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            statement.execute(GoldenSchema.text());
            for (String insert : inserts) {
                statement.execute(insert);
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

    private static String quote(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
