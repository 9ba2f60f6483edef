package io.dyber.zernel.serve.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Recordings of a simulated training, made by the recorder in a temporary folder that goes when this program ends.
final class SimulatedRecording {
    private static final String STEPS = "600";

    private SimulatedRecording() {}

    static Path make(String scenario) throws Failure, IOException, InterruptedException {
        LauncherProcess recorder = LauncherProcess.find("zernel-record");
        Path folder = Files.createTempDirectory("zernel-simulation");
        Path file = folder.resolve("simulated.parquet");
        // Deleted in the reverse order.
        folder.toFile().deleteOnExit();
        file.toFile().deleteOnExit();
        int code = recorder.run(List.of("--simulate=" + scenario, "--steps", STEPS, "-o", file.toString()));
        if (code != 0) {
            throw new Failure("simulating '" + scenario + "': zernel-record ended with status " + code, null);
        }
        return file;
    }
}
