package io.dyber.zernel.spark;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;

/// A cluster of Spark on this machine: a master, two workers and an executor of each, which is a JVM of its own.
@NullMarked
final class LocalCluster {
    private static final Map<String, String> SETTINGS = Map.of(
            "spark.master", "local-cluster[2,1,1024]",
            "spark.driver.host", "127.0.0.1",
            "spark.driver.bindAddress", "127.0.0.1",
            "spark.ui.enabled", "false",
            "spark.sql.shuffle.partitions", "2",
            "spark.sql.catalogImplementation", "in-memory",
            "spark.executor.extraJavaOptions",
                    "--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -XX:TieredStopAtLevel=1 -XX:+UseSerialGC");

    private LocalCluster() {}

    /// Lets applications of this JVM run on one. Its executors have the class path of the test.
    static void use() throws IOException {
        Path home = Path.of(System.getenv().getOrDefault("SPARK_HOME", "target/spark-home"));
        Path jars = Files.createDirectories(home.resolve("jars"));
        Files.writeString(home.resolve("RELEASE"), "of the test\n");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, Arrays.stream(classPath().split(File.pathSeparator))
                .map(entry -> Path.of(entry).toUri().toString())
                .collect(Collectors.joining(" ")));
        try (OutputStream file = Files.newOutputStream(jars.resolve("class-path.jar"));
                JarOutputStream jar = new JarOutputStream(file, manifest)) {
            jar.finish();
        }
        SETTINGS.forEach(System::setProperty);
        System.setProperty("spark.local.dir", Files.createDirectories(home.resolve("local")).toAbsolutePath().toString());
    }

    /// Surefire starts the test with a jar that names the others.
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path", ""));
    }
}
