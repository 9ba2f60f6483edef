package io.dyber.zernel.serve.cli;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One of our commands as a process of its own: `bin/zernel-record` of the installation this program runs from, or its
/// main class where there is no installation and JBang has put all jars on the class path.
final class LauncherProcess {
    private static final Map<String, String> MAIN_CLASSES = Map.of(
            "zernel-record", "io.dyber.zernel.record.cli.Record", "zernel-analyze", "io.dyber.zernel.analyze.cli.Analyze");

    private final List<String> program;

    private LauncherProcess(List<String> program) {
        this.program = program;
    }

    /// Finds the launcher under the system property `zernel.home`, which the launchers set, else `ZERNEL_HOME`, else on
    /// `PATH`, and the main class when there is none.
    static LauncherProcess find(String command) throws Failure {
        return find(command, System.getProperty("zernel.home"), System.getenv("ZERNEL_HOME"));
    }

    static LauncherProcess find(String command, @Nullable String property, @Nullable String variable)
            throws Failure {
        for (String home : new @Nullable String[] {property, variable}) {
            if (home != null && Files.isExecutable(Path.of(home, "bin", command))) {
                return new LauncherProcess(List.of(Path.of(home, "bin", command).toString()));
            }
        }
        return Optional.ofNullable(System.getenv("PATH")).stream()
                .flatMap(path -> List.of(path.split(":")).stream())
                .map(folder -> Path.of(folder, command))
                .filter(Files::isExecutable)
                .findFirst()
                .map(launcher -> List.of(launcher.toString()))
                .or(() -> onClassPath(command))
                .map(LauncherProcess::new)
                .orElseThrow(() -> new Failure(
                        "looking for '" + command + "': not in " + (property == null ? "ZERNEL_HOME" : property) + "/bin",
                        "start with the launcher zernel or JBang's alias zernel, or set ZERNEL_HOME to the installation's folder"));
    }

    private static Optional<List<String>> onClassPath(String command) {
        return Optional.ofNullable(MAIN_CLASSES.get(command))
                .filter(main -> ClassLoader.getSystemResource(main.replace('.', '/') + ".class") != null)
                .map(main -> List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-opens=java.base/java.nio=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-cp",
                        System.getProperty("java.class.path"),
                        main));
    }

    /// Whether an installation's launcher starts it, which `sudo` can do too.
    boolean isInstalled() {
        return program.size() == 1;
    }

    /// Runs it with our terminal until it ends, and gives its exit code. A Ctrl-C reaches both of us, and a recorder
    /// still has a file to finish, so this process outlives it.
    int run(List<String> arguments) throws Failure, InterruptedException {
        List<String> commandLine = new ArrayList<>(program);
        commandLine.addAll(arguments);
        Stopping stopping = new Stopping();
        Thread hook = new Thread(stopping, "zernel-launcher");
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException _) {
            stopping.run();
        }
        int code = stopping.start(new ProcessBuilder(commandLine).inheritIO()).waitFor();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // Shutting down already: the hook knows whether the other's exit code is ours.
            hook.join();
        }
        return code;
    }

    /// Runs while this process is being stopped, before which the other one has been started or never is.
    private static final class Stopping implements Runnable {
        private static final int SIGNALLED = 128;

        private @Nullable Process process;
        private boolean stopped;

        synchronized Process start(ProcessBuilder builder) throws Failure, InterruptedException {
            while (stopped) {
                wait();
            }
            try {
                process = builder.start();
                return process;
            } catch (IOException e) {
                throw new Failure("starting '" + builder.command().getFirst() + "': " + e.getMessage(), null);
            }
        }

        private synchronized @Nullable Process stop() {
            stopped = true;
            return process;
        }

        /// A terminal has told the other one too; anybody else told only us.
        @Override
        @SuppressWarnings("SystemConsoleNull") // NullAway knows the old contract only
        public void run() {
            Process running = stop();
            if (running == null) {
                return;
            }
            Console console = System.console();
            if (console == null || !console.isTerminal()) {
                running.destroy();
            }
            try {
                int code = running.waitFor();
                if (code < SIGNALLED) {
                    Runtime.getRuntime().halt(code);
                }
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
