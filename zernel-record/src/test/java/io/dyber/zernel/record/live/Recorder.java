package io.dyber.zernel.record.live;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// A command line of the recorder, run as a process of its own on the class path and with the flags of this JVM.
///
/// @param prefix words before `java`, to run it with other privileges
/// @param before folders that come before all others of the class path
record Recorder(
        List<String> prefix,
        Map<String, String> environment,
        List<String> properties,
        List<Path> before,
        List<String> arguments) {
    private static final String MAIN = "io.dyber.zernel.record.cli.Record";

    /// `zernel-record` with these arguments.
    static Recorder zernelRecord(String... arguments) {
        return new Recorder(List.of(), Map.of(), List.of(), List.of(), List.of(arguments));
    }

    /// `zernel-record -o FILE` with these further arguments.
    static Recorder recordTo(Path file, String... arguments) {
        return zernelRecord("-o", file.toString()).with(arguments);
    }

    Recorder with(String... more) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(List.of(more));
        return new Recorder(prefix, environment, properties, before, all);
    }

    Recorder under(String... words) {
        return new Recorder(List.of(words), environment, properties, before, arguments);
    }

    Recorder environment(String name, String value) {
        Map<String, String> all = new HashMap<>(environment);
        all.put(name, value);
        return new Recorder(prefix, all, properties, before, arguments);
    }

    Recorder property(String name, String value) {
        return option("-D" + name + "=" + value);
    }

    /// Of the JVM.
    Recorder option(String option) {
        List<String> all = new ArrayList<>(properties);
        all.add(option);
        return new Recorder(prefix, environment, all, before, arguments);
    }

    Recorder before(List<Path> folders) {
        return new Recorder(prefix, environment, properties, folders, arguments);
    }

    Running start() {
        List<String> java = new ArrayList<>();
        java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--"))
                .forEach(java::add);
        // As bin/zernel-record starts it.
        java.addAll(List.of(
                "-XX:TieredStopAtLevel=1",
                "-XX:C1MaxInlineSize=60",
                "-XX:+UseSerialGC",
                "-Xms16m",
                "-XX:MaxNewSize=12m",
                "-XX:MinHeapFreeRatio=10",
                "-XX:MaxHeapFreeRatio=20"));
        List<String> command = new ArrayList<>(prefix);
        // A background shell starts its children with SIGINT ignored, nohup with SIGHUP, and a JVM then keeps it so.
        command.addAll(List.of("env", "--default-signal=INT,HUP"));
        command.addAll(java);
        command.addAll(properties);
        command.addAll(classPath(java));
        command.add(MAIN);
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("SUDO_"));
        builder.environment().putAll(environment);
        return Running.start(builder);
    }

    /// Other classes than those of the build are not in the cache.
    private List<String> classPath(List<String> java) {
        if (before.isEmpty()) {
            return AotCache.classPath(java, MAIN);
        }
        StringBuilder classPath = new StringBuilder();
        before.forEach(folder -> classPath.append(folder).append(File.pathSeparator));
        return List.of("-cp", classPath + System.getProperty("java.class.path"));
    }

    /// Starts it and returns when its probes are attached.
    Running startRecording() {
        Running running = start();
        running.awaitLine("recording ");
        return running;
    }

    /// Runs it to its end.
    Running.Outcome run() {
        try (Running running = start()) {
            return running.await();
        }
    }

    /// Runs it to its end, which must be a good one.
    Running.Outcome runWell() {
        Running.Outcome outcome = run();
        if (outcome.status() != 0) {
            throw new AssertionError(arguments + ": " + outcome);
        }
        return outcome;
    }
}
