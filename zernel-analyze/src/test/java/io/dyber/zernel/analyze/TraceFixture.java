package io.dyber.zernel.analyze;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.NullMarked;

/// Writes tiny traces as PyTorch's profiler does. Times are milliseconds after the start of a [RecordingFixture].
@NullMarked
public final class TraceFixture {
    private static final long BASE_NS = RecordingFixture.START_NS - 1_000_000_000;

    private final List<String> events = new ArrayList<>();
    private final long pid;
    private String members = "";
    private double aheadMs;
    private long correlation;

    private TraceFixture(long pid) {
        this.pid = pid;
    }

    /// A trace of a process.
    public static TraceFixture trace(long pid) {
        return new TraceFixture(pid);
    }

    /// The clock of what follows is ahead of the recording's.
    public TraceFixture ahead(double ms) {
        aheadMs = ms;
        return this;
    }

    /// Further members of the trace, each with a comma behind it.
    public TraceFixture members(String json) {
        members = json;
        return this;
    }

    /// A kernel on GPU 0 and the call that launched it.
    public TraceFixture kernel(String name, int stream, double launchMs, double startMs, double durMs) {
        return call("cudaLaunchKernel", launchMs).activity("kernel", name, 0, stream, startMs, durMs);
    }

    /// A copy on GPU 0 and its call.
    public TraceFixture copy(String name, int stream, double callMs, double startMs, double durMs) {
        return call("cudaMemcpyAsync", callMs).activity("gpu_memcpy", name, 0, stream, startMs, durMs);
    }

    /// Something that ran on a GPU; the call before launched it.
    public TraceFixture activity(String category, String name, int device, int stream, double startMs, double durMs) {
        return event(category, name, device, stream, startMs, durMs, String.format(Locale.ROOT,
                "\"device\": %d, \"stream\": %d, \"correlation\": %d, \"bytes\": 1000", device, stream, correlation));
    }

    /// A kernel of NCCL on GPU 0 and stream 20 with arguments of PyTorch; the call before launched it.
    public TraceFixture collective(String name, double startMs, double durMs, String arguments) {
        return event("kernel", name, 0, 20, startMs, durMs, String.format(Locale.ROOT,
                "%s, \"device\": 0, \"stream\": 20, \"correlation\": %d", arguments, correlation));
    }

    /// A call of the CUDA runtime that takes 10 us.
    public TraceFixture call(String name, double atMs) {
        return event("cuda_runtime", name, pid, pid, atMs, 0.01, "\"correlation\": " + ++correlation);
    }

    /// A call that lasts.
    public TraceFixture call(String name, double atMs, double durMs) {
        return event("cuda_runtime", name, pid, pid, atMs, durMs, "\"correlation\": " + ++correlation);
    }

    /// A range of the program, in a thread of the process.
    public TraceFixture range(String name, long tid, double startMs, double durMs) {
        return event("user_annotation", name, pid, tid, startMs, durMs, "");
    }

    /// An operator of PyTorch, in a thread of the process.
    public TraceFixture operator(String name, long tid, double startMs, double durMs) {
        return event("cpu_op", name, pid, tid, startMs, durMs, "");
    }

    /// A function of Python, as with `with_stack=True`.
    public TraceFixture function(String name, long tid, double startMs, double durMs) {
        return event("python_function", name, pid, tid, startMs, durMs, "\"Python id\": 1");
    }

    private TraceFixture event(
            String category, String name, long owner, long lane, double startMs, double durMs, String arguments) {
        events.add(String.format(
                Locale.ROOT,
                "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, "
                        + "\"args\": {%s}}",
                category, name, owner, lane, 1e6 + (startMs + aheadMs) * 1e3, durMs * 1e3, arguments));
        return this;
    }

    public Path write(Path file) {
        String json = "{\"schemaVersion\": 1, " + members + " \"baseTimeNanoseconds\": " + BASE_NS + ", \"traceEvents\": [\n"
                + String.join(",\n", events) + "\n], \"traceName\": \"trace.json\"}";
        try {
            return Files.writeString(file, json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
