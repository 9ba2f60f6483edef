package io.dyber.zernel.record.live;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What a JVM learned of the recorder's classes in one run, as `lib/make-aot` keeps it for `bin/zernel-record`. The hundreds of
/// recorders that tests start are there sooner with it, and leave the CPUs to the jobs.
final class AotCache {
    private static final Path FOLDER = Path.of("target").toAbsolutePath();
    private static final Path FILE = FOLDER.resolve("recorder.aot");
    private static final List<Path> JARS = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .filter(entry -> entry.endsWith(".jar"))
            .map(Path::of)
            .toList();
    private static @Nullable Boolean there;

    private AotCache() {}

    /// The class path for the recorder, and what says where the cache is; the whole class path of this JVM where the recorder is not
    /// in a jar, of which a JVM can learn, or where nothing may be recorded.
    ///
    /// @param java the command and flags of the recorder's JVM
    /// @param main the recorder's main class
    static List<String> classPath(List<String> java, String main) {
        if (!isThere(java, main)) {
            return List.of("-cp", System.getProperty("java.class.path"));
        }
        return List.of("-XX:AOTCache=" + FILE, "-Xlog:aot*=off", "-Xlog:cds*=off", "-cp", jars());
    }

    private static String jars() {
        return JARS.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /// Made once for both JVMs that run tests, and again for other jars.
    private static synchronized boolean isThere(List<String> java, String main) {
        if (there == null) {
            there = isInAJar() && isMade(java, main);
        }
        return there;
    }

    private static boolean isInAJar() {
        return JARS.stream().anyMatch(jar -> jar.getFileName().toString().matches("zernel-record-.*\\.jar"));
    }

    private static boolean isMade(List<String> java, String main) {
        try (FileChannel channel = FileChannel.open(
                        FOLDER.resolve("recorder.aot.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock _ = channel.lock()) {
            return isNew() || make(java, main);
        } catch (IOException e) {
            throw new UncheckedIOException("making '" + FILE + "'", e);
        }
    }

    private static boolean isNew() throws IOException {
        if (!Files.exists(FILE)) {
            return false;
        }
        FileTime made = Files.getLastModifiedTime(FILE);
        for (Path jar : JARS) {
            if (Files.getLastModifiedTime(jar).compareTo(made) > 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean make(List<String> java, String main) throws IOException {
        Path recording = FOLDER.resolve("recorder.aot.parquet");
        Path made = FOLDER.resolve("recorder.aot.new");
        List<String> command = new ArrayList<>(java);
        command.addAll(List.of("-XX:AOTCacheOutput=" + made, "-Xlog:disable", "-cp", jars(), main, "-o", recording.toString()));
        command.addAll(List.of("--", "sleep", "1"));
        try (Running running = Running.start(new ProcessBuilder(command))) {
            if (running.await().status() != 0 || !Files.exists(made)) {
                return false;
            }
        }
        Files.delete(recording);
        Path _ = Files.move(made, FILE, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        return true;
    }
}
