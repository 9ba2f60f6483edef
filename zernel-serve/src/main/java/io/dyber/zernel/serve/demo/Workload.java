package io.dyber.zernel.serve.demo;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A job to record in a demonstration.
///
/// @param what it is
/// @param why it was chosen
/// @param options for the recorder
/// @param command the job's command line
public record Workload(String what, String why, List<String> options, List<String> command) {
    private static final String SCRIPT = "demo_train.py";

    public Workload {
        options = List.copyOf(options);
        command = List.copyOf(command);
    }

    /// The most real one there is: a PyTorch training where the user has PyTorch, else the stand-in.
    ///
    /// @param folder for the training's script
    public static Workload choose(Map<String, String> environment, Path folder) throws IOException {
        Optional<PyTorch> torch = PyTorch.find(Invoker.of(environment), environment);
        return torch.isPresent() ? training(torch.get(), folder) : standIn(environment.get("ZERNEL_PYTHON") != null);
    }

    private static Workload training(PyTorch torch, Path folder) throws IOException {
        Path script = folder.resolve(SCRIPT);
        try (InputStream in = Workload.class.getResourceAsStream(SCRIPT)) {
            if (in == null) {
                throw new FileNotFoundException(SCRIPT);
            }
            Files.copy(in, script);
        }
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rw-r--r--"));
        return new Workload(
                "a small PyTorch training",
                "'" + torch.python() + "' has torch " + torch.version(),
                List.of(),
                List.of(torch.python().toString(), script.toString()));
    }

    private static Workload standIn(boolean named) {
        return new Workload(
                "a stand-in job without PyTorch, so without training steps",
                named
                        ? "the Python that ZERNEL_PYTHON names does not import torch"
                        : "no python3 that imports torch was found; set ZERNEL_PYTHON to one for the real thing",
                List.of("--probe", "libz.so.1:compress2(bytes=arg4)"),
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        StandInJob.class.getName()));
    }
}
