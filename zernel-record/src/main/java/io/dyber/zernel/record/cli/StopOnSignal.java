package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.Recorder;

/// SIGINT and SIGTERM end the recording as if it had ended by itself: the file is finished and the exit status is that
/// of a good recording. SIGHUP too, so a closed terminal loses nothing.
final class StopOnSignal implements AutoCloseable {
    private final Recorder recorder;
    private final Thread hook = new Thread(this::onSignal, "zernel-stop");
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
    }

    private void onSignal() {
        recorder.stop("signal");
        try {
            recorder.awaitFinished();
            hook.join(100);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(status);
    }

    /// From here on a signal ends the process at once.
    @Override
    public void close() {
        try {
            boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // Shutting down: the hook runs and will halt.
        }
    }
}
