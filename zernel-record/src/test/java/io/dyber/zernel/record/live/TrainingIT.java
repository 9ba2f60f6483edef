package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// An untouched PyTorch training, against the steps and the waiting time that the script itself counts.
@Tag("alone")
class TrainingIT {
    private static final String NEXT = "name LIKE 'enumerate(DataLoader)#%__next__'";
    private static final String STEP = "name = 'Optimizer.step#AdamW.step'";
    private static final long CLOCK_ERROR_NANOS = 1_000_000;

    private static String python = "";

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
        python = Needs.python("torch");
    }

    @Test
    void everyStepAndEveryWaitForDataIsRecorded() {
        Path file = directory.resolve("run.parquet");
        JsonNode truth = Truth.of(Recorder.recordTo(file, "--", python, Programs.source("train.py"))
                        .runWell()
                        .out())
                .only();

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("""
                    SELECT name, count(*), count(dur_ns), count(DISTINCT tid) FROM events
                    WHERE kind IN ('region', 'backward') AND pid = %d GROUP BY name ORDER BY name
                    """.formatted(truth.path("pid").asLong()))).containsExactly(
                    "Engine::execute 60 60 1",
                    "Optimizer.step#AdamW.step 60 60 1",
                    "Optimizer.zero_grad#AdamW.zero_grad 60 60 1",
                    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 61 61 1");
            assertThat(waits(truth)).hasSize(61);
            assertDataWait(recording, waits(truth));
            assertThat(recording.footer("zernel.recording").path("stop").asString()).isEqualTo("command-exited");
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
        }
    }

    @Test
    void everyEpochEndsWithOneMoreNextThanSteps() {
        Path file = directory.resolve("run.parquet");
        JsonNode truth = Truth.of(Recorder.recordTo(file)
                        .with("--", python, Programs.source("train.py"))
                        .with("--steps", "15", "--epochs", "2", "--workers", "0", "--transform-ms", "2")
                        .runWell()
                        .out())
                .only();

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("SELECT name, count(*) FROM events WHERE " + NEXT + " GROUP BY name"))
                    .containsExactly("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ 32");
            assertThat(recording.number("SELECT count(*) FROM events WHERE " + STEP)).isEqualTo(30);
            assertDataWait(recording, waits(truth));
        }
    }

    @Test
    void attachingInTheMiddleRecordsEveryStepFromThenOn() {
        Path file = directory.resolve("run.parquet");
        try (Running training = Running.start(python, Programs.source("train.py"), "--steps", "350")) {
            training.awaitLine("step 20 ");
            try (Running recorder = Recorder.recordTo(file, "-p", Long.toString(training.pid())).startRecording()) {
                long attachedNanos = System.currentTimeMillis() * 1_000_000;
                Running.Outcome trained = training.await();
                assertThat(trained.status()).isZero();
                assertThat(recorder.await().status()).isZero();
                assertFromTheMiddle(file, Truth.of(trained.out()).only(), attachedNanos);
            }
        }
    }

    /// `truth` has what the script noted before each `step`, and how long each `next` took.
    private static void assertFromTheMiddle(Path file, JsonNode truth, long attachedNanos) {
        try (Recording recording = Recording.open(file)) {
            List<Long> recorded = recording.numbers("SELECT ts_ns FROM events WHERE " + STEP + " ORDER BY ts_ns");
            List<Long> noted = truth.path("steps_ns").valueStream().map(JsonNode::asLong).toList();
            assertThat(noted).hasSize(350);
            int first = noted.size() - recorded.size();

            assertThat(first).isBetween(20, 300);
            assertThat(noted.get(first)).isLessThan(attachedNanos + 1_000_000_000);
            for (int i = 0; i < recorded.size(); i++) {
                long until = first + i + 1 < noted.size() ? noted.get(first + i + 1) : Long.MAX_VALUE - CLOCK_ERROR_NANOS;
                assertThat(recorded.get(i))
                        .as("step %s of %s", i, recorded.size())
                        .isBetween(noted.get(first + i) - CLOCK_ERROR_NANOS, until + CLOCK_ERROR_NANOS);
            }
            // The last `next` has no step: it ends the epoch and waits for the workers to end.
            List<JsonNode> waits = waits(truth);
            int unseen = waits.size() - (int) recording.number("SELECT count(*) FROM events WHERE " + NEXT);
            assertThat(unseen).isBetween(first, first + 1);
            assertDataWait(recording, waits.subList(unseen, waits.size()));
            assertThat(recording.footer("zernel.recording").path("stop").asString()).isEqualTo("target-exited");
        }
    }

    private static List<JsonNode> waits(JsonNode truth) {
        return truth.path("epochs").valueStream().flatMap(JsonNode::valueStream).toList();
    }

    /// A region is inside what `next` took, and around the making of the batch, whatever else its processor does.
    private static void assertDataWait(Recording recording, List<JsonNode> waits) {
        double inside = waits.stream().mapToDouble(wait -> wait.path("inside_s").asDouble()).sum();
        double outside = waits.stream().mapToDouble(wait -> wait.path("outside_s").asDouble()).sum();
        long nanos = recording.number("SELECT sum(dur_ns) FROM events WHERE " + NEXT);
        assertThat(nanos / 1e9).isBetween(inside, outside);
    }
}
