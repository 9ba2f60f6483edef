package io.dyber.zernel.serve.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/// Recordings of a simulated training, made by the recorder in a temporary folder that goes when this program ends.
final class SimulatedRecording {
    private static final String STEPS = "600";

    /// How a program ends that SIGINT or SIGTERM has ended.
    private static final Set<Integer> STOPPED = Set.of(130, 143);

    private SimulatedRecording() {}

    static Path make(String scenario) throws Failure, IOException, InterruptedException {
        LauncherProcess recorder = LauncherProcess.find("zernel-record");
        Path folder = Files.createTempDirectory("zernel-simulation");
        Path file = folder.resolve("simulated.parquet");
        // Deleted in the reverse order.
        folder.toFile().deleteOnExit();
        file.toFile().deleteOnExit();
        int code = recorder.run(List.of("--simulate=" + scenario, "--steps", STEPS, "-o", file.toString()));
        if (STOPPED.contains(code)) {
            throw new InterruptedException("stopping: by the signal that is on its way to this process too");
        }
        if (code != 0) {
            throw new Failure("simulating '" + scenario + "': zernel-record ended with status " + code, null);
        }
        return file;
    }
}
