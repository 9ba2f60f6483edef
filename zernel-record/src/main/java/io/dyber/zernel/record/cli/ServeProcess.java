package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.recording.RecordingFile.Owner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// `zernel serve` beside a recorder: a process of its own, as the user who ran sudo, that follows the recording and ends
/// with it.
final class ServeProcess implements AutoCloseable {
    private final List<String> command = new ArrayList<>();
    private final CountDownLatch recording = new CountDownLatch(1);
    private final AtomicReference<@Nullable Process> process = new AtomicReference<>();

    /// Finds the program beside this one; [#start] starts it.
    ServeProcess(Path output, Optional<Owner> owner) {
        String home = System.getProperty("zernel.home", "");
        Path zernel = Path.of(home, "bin", "zernel");
        if (home.isEmpty() || !Files.isExecutable(zernel)) {
            throw new RecorderException(
                    "serving the recording: there is no zernel next to this program",
                    "start it with bin/zernel-record, or serve it from another terminal: zernel serve " + output);
        }
        owner.ifPresent(user -> command.addAll(List.of(
                "setpriv", "--reuid", "" + user.uid(), "--regid", "" + user.gid(), "--init-groups", "--")));
        command.addAll(List.of(zernel.toString(), "serve", output.toString(), "--exit-at-end"));
        // The thread that records gives up the right to become another user; this one keeps it until it is needed.
        Thread.ofPlatform().daemon().name("zernel-serve").start(this::run);
    }

    /// There is something to follow now.
    void start() {
        recording.countDown();
    }

    private void run() {
        try {
            recording.await();
            process.set(new ProcessBuilder(command).inheritIO().start());
        } catch (IOException e) {
            System.getLogger(ServeProcess.class.getName()).log(System.Logger.Level.WARNING, "serving the recording", e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        Process serving = process.get();
        if (serving != null) {
            serving.destroy();
        }
    }
}
