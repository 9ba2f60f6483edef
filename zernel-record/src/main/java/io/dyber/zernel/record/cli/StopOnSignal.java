package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.Recorder;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// SIGINT and SIGTERM end the recording as if it had ended by itself: the file is finished and the exit status is that
/// of a good recording. SIGHUP too, so a closed terminal loses nothing.
final class StopOnSignal implements AutoCloseable {
    private static final long SETTLE_SECONDS = 5;

    private final Recorder recorder;
    private final Thread hook = new Thread(this::onSignal, "zernel-stop");
    private final CountDownLatch settled = new CountDownLatch(1);
    private volatile int status = Record.ENVIRONMENT;

    private StopOnSignal(Recorder recorder) {
        this.recorder = recorder;
    }

    static StopOnSignal install(Recorder recorder) {
        StopOnSignal stop = new StopOnSignal(recorder);
        Runtime.getRuntime().addShutdownHook(stop.hook);
        return stop;
    }

    /// The status with which a signal's shutdown ends from now on.
    void exitWith(int exitStatus) {
        status = exitStatus;
        settled.countDown();
    }

    private void onSignal() {
        recorder.stop("signal");
        try {
            recorder.awaitFinished();
            boolean _ = settled.await(SETTLE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(status);
    }

    /// From here on a signal ends the process at once.
    @Override
    public void close() {
        settled.countDown();
        try {
            boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // Shutting down: the hook runs and will halt.
        }
    }
}
