package io.dyber.zernel.serve.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// JBang as its script `jbang` starts it, with settings and caches of its own, and its artifacts from one repository.
///
/// @param folder of settings and caches; empty at first
/// @param jvm options of the JVM that JBang itself runs in
record JBang(Path folder, Path repository, List<String> jvm) {
    static final Path CATALOG = Path.of("../jbang-catalog.json").toAbsolutePath().normalize();
    private static final Path JAR = Path.of("target/programs/jbang-cli-all.jar");
    private static final int EXECUTE = 255;

    JBang(Path folder, Path repository) {
        this(folder, repository, List.of("-XX:TieredStopAtLevel=1"));
    }

    /// Adds a catalog as `dyber`, as the documentation does.
    JBang add(String catalog) throws IOException, InterruptedException {
        String _ = says("catalog", "add", "--global", "--name", "dyber", catalog);
        return this;
    }

    /// What JBang says is to be executed.
    ProcessBuilder executing(String... arguments) throws IOException, InterruptedException {
        return process(List.of("sh", "-c", "exec " + says(arguments))).redirectError(ProcessBuilder.Redirect.INHERIT);
    }

    /// What JBang prints, or is to be executed.
    String says(String... arguments) throws IOException, InterruptedException {
        Process process = started(arguments).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        if (status != 0 && status != EXECUTE) {
            throw new IllegalStateException("status " + status + " of jbang " + String.join(" ", arguments) + "\n" + output);
        }
        return output;
    }

    /// JBang, to be started, without what it says is to be executed.
    ProcessBuilder started(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvm);
        command.addAll(List.of("-jar", JAR.toString()));
        command.addAll(List.of(arguments));
        return process(command);
    }

    private ProcessBuilder process(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(Map.of(
                "JAVA_HOME", System.getProperty("java.home"),
                "JBANG_DIR", folder.toString(),
                "JBANG_REPO", repository.toString(),
                "JBANG_NO_VERSION_CHECK", "1",
                "JBANG_RUNTIME_SHELL", "bash",
                "JBANG_STDIN_NOTTY", "true"));
        // No installed Zernel answers instead of the jars.
        builder.environment().remove("ZERNEL_HOME");
        return builder;
    }
}
