package io.dyber.zernel.record.session;

import io.dyber.zernel.record.bpf.Gate;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.process.CommandPath;
import io.dyber.zernel.record.recording.RecordingFile.Owner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// The command being recorded. It is held before its first instruction, so that nothing of it is missed, and runs with the
/// terminal, user and environment it would have had without the recorder. Held, it ends when the recorder does.
public final class Workload {
    /// Exit status of a shell for a command it cannot find.
    static final int NOT_FOUND = 127;

    private static final long HOLD_PATIENCE_MILLIS = 10_000;

    /// The gate is opened by who may: the recorder's user.
    private static final String FIND_GATE = "exec 3<\"$0\" && exec \"$@\"";
    private static final String WAIT_AT_GATE = "read -r zernel_gate <&3 && exec \"$@\" 3<&-";

    private static final List<String> AT_GATE = List.of("/bin/sh", "-c", WAIT_AT_GATE, "sh");

    private final Process process;
    private final Gate gate;
    private final Optional<Path> program;
    private boolean resumed;
    private boolean told;

    private Workload(Process process, Gate gate, Optional<Path> program) {
        this.process = process;
        this.gate = gate;
        this.program = program;
    }

    /// Starts a command, held before its first instruction until [#resume].
    ///
    /// @throws RecorderException when there is no such command
    public static Workload start(List<String> command, Optional<Owner> owner) {
        return start(command, owner, _ -> Map.of());
    }

    /// The same with more in its environment.
    ///
    /// @param more says what, being told what it has without
    static Workload start(List<String> command, Optional<Owner> owner, UnaryOperator<Map<String, String>> more) {
        Map<String, String> environment = new LinkedHashMap<>(environment(owner));
        environment.putAll(more.apply(Map.copyOf(environment)));
        Optional<Path> program = program(command.getFirst(), CommandPath.of(environment.getOrDefault("PATH", "")));
        Gate gate = Gate.shut();
        List<String> words = new ArrayList<>(List.of("/bin/sh", "-c", FIND_GATE, gate.path().toString()));
        owner.ifPresent(user -> words.addAll(List.of(
                "setpriv", "--reuid", "" + user.uid(), "--regid", "" + user.gid(), "--init-groups", "--")));
        words.addAll(AT_GATE);
        words.addAll(command);
        try {
            ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
            builder.environment().clear();
            builder.environment().putAll(environment);
            Workload workload = new Workload(builder.start(), gate, program);
            workload.awaitHeld(owner.isPresent() ? "is 'setpriv' (util-linux) installed?" : "");
            return workload;
        } catch (IOException e) {
            gate.close();
            throw new RecorderException("starting '" + command.getFirst() + "': " + e.getMessage(), "");
        }
    }

    private static Optional<Path> program(String command, CommandPath path) {
        return path.program(path.find(command)
                .orElseThrow(() -> new RecorderException("starting '" + command + "': no such command", "")));
    }

    /// The environment that commands are started with: the one the user's shell gave to sudo, when it can be read; else what
    /// sudo left of it.
    static Map<String, String> environment(Optional<Owner> owner) {
        Map<String, String> environment = inUsersLocale(System.getenv(), System.getProperty("zernel.lc_all"));
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

    /// The launchers start this program in a UTF-8 locale.
    ///
    /// @param locale what `LC_ALL` was, empty for unset; null where no launcher changed it
    static Map<String, String> inUsersLocale(Map<String, String> ours, @Nullable String locale) {
        Map<String, String> environment = new LinkedHashMap<>(ours);
        if (locale != null) {
            environment.remove("LC_ALL");
            if (!locale.isEmpty()) {
                environment.put("LC_ALL", locale);
            }
        }
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

    /// Runs something, on another thread, when the command has ended.
    void onceEnded(Runnable action) {
        CompletableFuture<Process> _ = process.onExit().whenComplete((_, _) -> action.run());
    }

    private void awaitHeld(String hint) {
        long deadline = System.currentTimeMillis() + HOLD_PATIENCE_MILLIS;
        while (System.currentTimeMillis() < deadline && process.isAlive()) {
            if (isHeld()) {
                return;
            }
            pause(1);
        }
        gate.close();
        process.destroyForcibly();
        throw new RecorderException("starting the command: it did not come up", hint);
    }

    /// Whether the last shell sleeps, which it does at the gate only.
    private boolean isHeld() {
        try {
            String words = procFile("cmdline");
            String stat = procFile("stat");
            return words.startsWith(String.join("\0", AT_GATE) + "\0")
                    && stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
        } catch (IOException _) {
            return false;
        }
    }

    /// The words of a process without those that hold it: what it is about to run.
    static List<String> withoutGate(List<String> words) {
        boolean held = words.size() > AT_GATE.size() && words.subList(0, AT_GATE.size()).equals(AT_GATE);
        return held ? words.subList(AT_GATE.size(), words.size()) : words;
    }

    private String procFile(String name) throws IOException {
        return new String(Files.readAllBytes(Path.of("/proc/" + pid(), name)), StandardCharsets.ISO_8859_1);
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// The program that runs first: that of the command, or the interpreter of its script.
    Optional<Path> program() {
        return program;
    }

    public int pid() {
        return (int) process.pid();
    }

    /// Lets the command run.
    void resume() {
        resumed = true;
        gate.open();
    }

    /// Asks the command to end, also when it was stopped; it may take its time. One that is still held never
    /// runs.
    public void terminate() {
        gate.close();
        if (process.isAlive()) {
            told = true;
            process.destroy();
            wake();
        }
    }

    private void wake() {
        try {
            new ProcessBuilder("/bin/sh", "-c", "kill -CONT " + pid()).start().waitFor(5, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new RecorderException("ending the command: " + e.getMessage(), "");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Whether it runs and was not told to end.
    boolean goesOn() {
        return resumed && !told && process.isAlive();
    }

    /// Whether it ran and has ended by itself.
    boolean hasEnded() {
        return resumed && !told && !process.isAlive();
    }

    /// As a shell shows it; only when the command has ended.
    int exitStatus() {
        return process.exitValue();
    }
}
