package io.dyber.zernel.record.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.attach.Targets;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.rows.EventPump;
import io.dyber.zernel.record.rows.EventWriter;
import io.dyber.zernel.record.schema.Schema;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Which processes are recorded, where they come and go and their numbers are used again.
final class TargetSetTest {
    /// The kernel's side, of which a process goes only when the test says so.
    private static final class FakeTargets implements Targets {
        final Set<Integer> pids = new LinkedHashSet<>();
        IntConsumer adding = _ -> {};

        @Override
        public void addTarget(int pid) {
            adding.accept(pid);
            pids.add(pid);
        }

        @Override
        public void removeTarget(int pid) {
            pids.remove(pid);
        }

        @Override
        public Set<Integer> targets() {
            return pids;
        }

        @Override
        public Set<Integer> takeCodeChanges() {
            return Set.of();
        }

        @Override
        public boolean hearsOfLoads() {
            return true;
        }
    }

    private final Arena arena = Arena.ofConfined();
    private final RingBuffer ring = RingBuffer.over(arena.allocate(8, 8), arena.allocate(8, 8), arena.allocate(128, 8));
    private final FakeTargets kernel = new FakeTargets();
    private final RecordOptions everyone = RecordOptions.to(Path.of("run.parquet"));

    @AfterEach
    void free() {
        ring.close();
        arena.close();
    }

    /// The pump does not run: nothing is decoded.
    private TargetSet targets(RecordOptions options) {
        Schema schema = CompiledPrograms.schema(List.of());
        StringDictionary texts = new StringDictionary();
        EventPump pump =
                new EventPump(ring, ring, new Decoder(schema, CompiledPrograms.wire(), texts, 0, 4096, _ -> {}));
        EventWriter writer = new EventWriter(pump, schema, texts, Clock.read(_ -> 0));
        return new TargetSet(kernel, options, pump, writer, new Job(schema, texts, name -> name));
    }

    private static int ended() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("true").start();
        process.waitFor();
        return (int) process.pid();
    }

    @Test
    void aProcessThatEndsBeforeItIsTakenInIsNotRecorded() throws IOException, InterruptedException {
        targets(everyone).addUsers(Set.of(ended()));
        assertThat(kernel.pids).isEmpty();
    }

    @Test
    void aRecordingOfAChosenProcessThatHasEndedEnds() throws IOException, InterruptedException {
        TargetSet targets = targets(everyone.attachedTo(Set.of(ended())));
        targets.begin();
        assertThat(kernel.pids).isEmpty();
        assertThat(targets.anyAlive()).isFalse();
    }

    @Test
    void aProcessWithTheNumberOfOneThatHasEndedIsRecorded() throws IOException {
        Process process = new ProcessBuilder("sleep", "600").start();
        try {
            int pid = (int) process.pid();
            TargetSet targets = targets(everyone);
            targets.addUsers(Set.of(pid));
            assertThat(kernel.pids).containsExactly(pid);
            assertThat(targets.describe()).singleElement().extracting("pid").isEqualTo((long) pid);

            kernel.pids.clear(); // as when it ends
            targets.addUsers(Set.of(pid));
            assertThat(kernel.pids).containsExactly(pid);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void whatIsForkedWhileOthersAreTakenInIsRecorded() throws IOException {
        String forks = "echo ready; read line; sleep 600 & echo $!; wait";
        Process process = new ProcessBuilder("sh", "-c", "sleep 600 & sh -c '" + forks + "'; wait").start();
        BufferedReader lines = process.inputReader();
        try {
            assertThat(lines.readLine()).isEqualTo("ready");
            List<Integer> forked = new ArrayList<>();
            kernel.adding = pid -> {
                if (pid != process.pid() && forked.isEmpty()) {
                    forked.add(Integer.parseInt(answer(process, lines)));
                }
            };
            targets(everyone.attachedTo(Set.of((int) process.pid()))).begin();
            assertThat(forked).hasSize(1);
            assertThat(kernel.pids).hasSize(4).containsAll(forked);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static String answer(Process process, BufferedReader lines) {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            return lines.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
