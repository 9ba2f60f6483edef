package io.dyber.zernel.serve.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A Python that can `import torch`.
///
/// @param python the interpreter
/// @param version of PyTorch
record PyTorch(Path python, String version) {
    /// Looks for one where the user would: `ZERNEL_PYTHON`, an active environment, the PATH, the usual folders.
    static Optional<PyTorch> find(Invoker invoker, Map<String, String> environment) {
        for (Path python : candidates(invoker, environment)) {
            if (Files.isExecutable(python)) {
                Optional<PyTorch> found = in(python, invoker);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    /// Asking for the module's files first is quick where there is none; importing it may take ten seconds.
    private static Optional<PyTorch> in(Path python, Invoker invoker) {
        String look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)";
        String ask = "import torch; print(torch.__version__)";
        return Commands.output(invoker.as(List.of(python.toString(), "-c", look)))
                .flatMap(_ -> Commands.output(invoker.as(List.of(python.toString(), "-c", ask))))
                .map(version -> new PyTorch(python, version.strip()));
    }

    private static Set<Path> candidates(Invoker invoker, Map<String, String> environment) {
        Set<Path> candidates = new LinkedHashSet<>();
        String chosen = environment.get("ZERNEL_PYTHON");
        if (chosen != null) {
            return Set.of(Path.of(chosen));
        }
        addEnvironment(candidates, environment.get("VIRTUAL_ENV"));
        addEnvironment(candidates, environment.get("CONDA_PREFIX"));
        addEnvironment(candidates, Path.of(".venv").toAbsolutePath().toString());
        addEnvironment(candidates, Path.of("venv").toAbsolutePath().toString());
        for (String folder : environment.getOrDefault("PATH", "/usr/bin").split(":")) {
            candidates.add(Path.of(folder, "python3"));
        }
        // sudo replaces the PATH: a login shell of the user knows the real one.
        Commands.output(invoker.as(List.of("sh", "-lc", "command -v python3")))
                .map(String::strip)
                .filter(path -> path.startsWith("/"))
                .ifPresent(path -> candidates.add(Path.of(path)));
        for (String folder : List.of(
                ".venv", "venv", "miniconda3", "anaconda3", "miniforge3", "mambaforge")) {
            addEnvironment(candidates, invoker.home().resolve(folder).toString());
        }
        candidates.add(invoker.home().resolve(".pyenv/shims/python3"));
        return candidates;
    }

    private static void addEnvironment(Set<Path> candidates, @Nullable String folder) {
        if (folder != null) {
            candidates.add(Path.of(folder, "bin", "python3"));
        }
    }
}
