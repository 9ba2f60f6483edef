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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// A job to record in a demonstration, which has one deliberate flaw: it waits for data.
///
/// @param what it is
/// @param why it was chosen
/// @param options for the recorder
/// @param command the job's command line
public record Workload(String what, String why, List<String> options, List<String> command) {
    private static final String SCRIPT = "demo_train.py";
    private static final String PROGRAM = "zernel-demo-job";
    private static final Pattern MORE_WORKERS = Pattern.compile("num_workers=(\\d+), persistent_workers");

    public Workload {
        options = List.copyOf(options);
        command = List.copyOf(command);
    }

    /// The same job with a finding's advice taken.
    ///
    /// @param what was changed
    /// @param job the changed job
    public record Remedy(String what, Workload job) {}

    /// The most real one there is: a PyTorch training where the user has PyTorch, else a C program with the same flaw.
    ///
    /// @param folder for the job's file
    public static Workload choose(Map<String, String> environment, Path folder) throws IOException {
        Optional<PyTorch> torch = PyTorch.find(Invoker.of(environment), environment);
        return torch.isPresent() ? training(torch.get(), folder) : program(environment.get("ZERNEL_PYTHON") != null, folder);
    }

    private static Workload training(PyTorch torch, Path folder) throws IOException {
        Path script = copy(SCRIPT, folder.resolve(SCRIPT), "rw-r--r--");
        return new Workload(
                "a small PyTorch training",
                "'" + torch.python() + "' has torch " + torch.version(),
                List.of(),
                List.of(torch.python().toString(), script.toString()));
    }

    private static Workload program(boolean named, Path folder) throws IOException {
        Path program = copy("/native/x86_64/" + PROGRAM, folder.resolve(PROGRAM), "rwxr-xr-x");
        return new Workload(
                "a small C program that trains without PyTorch",
                named
                        ? "the Python that ZERNEL_PYTHON names does not import torch"
                        : "no python3 that imports torch was found; set ZERNEL_PYTHON to one for the real thing",
                Stream.of("next_batch(role=data_wait)", "forward_backward(role=compute)", "wait_for_device(role=sync)",
                                "optimizer_step(role=optimizer)")
                        .flatMap(function -> Stream.of("--probe", PROGRAM + ":" + function))
                        .toList(),
                List.of(program.toString()));
    }

    /// The job as a finding advises it; empty where the finding asks for something else than data in time.
    ///
    /// @param finding its name
    /// @param advice its advice
    public Optional<Remedy> remedy(String finding, String advice) {
        boolean trains = command.getLast().endsWith(SCRIPT);
        Matcher workers = MORE_WORKERS.matcher(advice);
        if (finding.equals("too_few_workers") && trains && workers.find()) {
            String count = workers.group(1);
            return Optional.of(new Remedy("DataLoader(num_workers=" + count + ")", with("--workers", count)));
        }
        if (finding.equals("data_bound")) {
            return Optional.of(trains
                    ? new Remedy("a cheaper transform", with("--sample-ms", "0.2"))
                    : new Remedy("each batch is fetched while the one before is computed", with("prefetch")));
        }
        return Optional.empty();
    }

    private Workload with(String... arguments) {
        return new Workload(what, why, options, Stream.concat(command.stream(), Stream.of(arguments)).toList());
    }

    private static Path copy(String resource, Path file, String permissions) throws IOException {
        try (InputStream in = Workload.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new FileNotFoundException(resource);
            }
            Files.copy(in, file);
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        return file;
    }
}
