package io.dyber.zernel.record;

import io.dyber.zernel.record.sink.RecordingFile.Owner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// The command being recorded. It is started stopped, so that nothing of it is missed, and runs with the terminal,
/// user and environment it would have had without the recorder.
final class Workload {
    /// Exit status of a shell for a command it cannot find.
    static final int NOT_FOUND = 127;

    private static final long STOP_PATIENCE_MILLIS = 10_000;
    private static final String STOPPED = "kill -STOP $$; exec \"$@\"";

    private final Process process;
    private final Path program;

    private Workload(Process process, Path program) {
        this.process = process;
        this.program = program;
    }

    /// Starts a command, held before its first instruction until [#resume].
    ///
    /// @throws RecorderException when there is no such command
    static Workload start(List<String> command, Optional<Owner> owner) {
        Map<String, String> environment = environment(owner);
        Path program = find(command.getFirst(), environment.getOrDefault("PATH", ""));
        List<String> words = new ArrayList<>();
        owner.ifPresent(user -> words.addAll(List.of(
                "setpriv", "--reuid", "" + user.uid(), "--regid", "" + user.gid(), "--init-groups", "--")));
        words.addAll(List.of("/bin/sh", "-c", STOPPED, "sh"));
        words.addAll(command);
        try {
            ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
            builder.environment().clear();
            builder.environment().putAll(environment);
            Workload workload = new Workload(builder.start(), program);
            workload.awaitStopped();
            return workload;
        } catch (IOException e) {
            throw new RecorderException("starting '" + command.getFirst() + "': " + e.getMessage(), "");
        }
    }

    private static Path find(String program, String path) {
        List<String> folders = program.contains("/") ? List.of("") : List.of(path.split(":"));
        return folders.stream()
                .map(folder -> Path.of(folder, program))
                .filter(candidate -> Files.isExecutable(candidate) && !Files.isDirectory(candidate))
                .findFirst()
                .orElseThrow(() -> new RecorderException("starting '" + program + "': no such command", ""));
    }

    /// The environment that commands are started with: the one the user's shell gave to sudo, when it can be read; else what
    /// sudo left of it.
    static Map<String, String> environment(Optional<Owner> owner) {
        Map<String, String> environment = new LinkedHashMap<>(System.getenv());
        if (owner.isEmpty() || System.getenv("SUDO_USER") == null) {
            return environment;
        }
        Optional<Map<String, String>> outer = sudoEnvironment();
        if (outer.isPresent()) {
            return outer.get();
        }
        environment.keySet().removeIf(name -> name.startsWith("SUDO_"));
        environment.put("USER", System.getenv("SUDO_USER"));
        environment.put("LOGNAME", System.getenv("SUDO_USER"));
        return environment;
    }

    private static Optional<Map<String, String>> sudoEnvironment() {
        Optional<ProcessHandle> ancestor = ProcessHandle.current().parent();
        while (ancestor.isPresent()) {
            long pid = ancestor.get().pid();
            try {
                if (Files.readString(Path.of("/proc/" + pid + "/comm")).strip().equals("sudo")) {
                    return Optional.of(parse(Files.readAllBytes(Path.of("/proc/" + pid + "/environ"))));
                }
            } catch (IOException _) {
                return Optional.empty();
            }
            ancestor = ancestor.get().parent();
        }
        return Optional.empty();
    }

    private static Map<String, String> parse(byte[] environ) {
        Map<String, String> environment = new LinkedHashMap<>();
        for (String entry : new String(environ, StandardCharsets.UTF_8).split("\0")) {
            int equals = entry.indexOf('=');
            if (equals > 0) {
                environment.put(entry.substring(0, equals), entry.substring(equals + 1));
            }
        }
        return environment;
    }

    private void awaitStopped() throws IOException {
        long deadline = System.currentTimeMillis() + STOP_PATIENCE_MILLIS;
        while (System.currentTimeMillis() < deadline && process.isAlive()) {
            String stat = Files.readString(Path.of("/proc/" + pid() + "/stat"));
            if (stat.charAt(stat.lastIndexOf(')') + 2) == 'T') {
                return;
            }
            pause(1);
        }
        throw new RecorderException("starting the command: it did not come up", "is 'setpriv' (util-linux) installed?");
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// The file the command's name means.
    Path program() {
        return program;
    }

    int pid() {
        return (int) process.pid();
    }

    /// Lets the command run.
    void resume() {
        signal("CONT");
    }

    /// Asks the command to end; it may take its time.
    void terminate() {
        if (process.isAlive()) {
            signal("CONT");
            process.destroy();
        }
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + pid()).start().waitFor(5, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new RecorderException("resuming the command: " + e.getMessage(), "");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// As a shell shows it; only when the command has ended.
    int exitStatus() {
        return process.exitValue();
    }
}
