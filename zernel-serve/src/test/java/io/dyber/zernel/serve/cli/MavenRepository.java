package io.dyber.zernel.serve.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// A local Maven repository as if this build had been installed: links to what the user's holds, and our own jars. What
/// JBang and notebooks resolve here needs no network, and leaves nothing in the user's.
final class MavenRepository {
    /// Outside of JUnit's temporary folders, which warn of each link when they are deleted.
    private static final Path FOLDER = Path.of("target/maven-repository").toAbsolutePath();

    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final List<String> MODULES = List.of("zernel-format", "zernel-record", "zernel-analyze", "zernel-serve");

    private MavenRepository() {}

    /// Its folder, with the jars of this build.
    static Path filled() throws IOException {
        Path users = Path.of(System.getProperty("maven.repository"));
        link(users, Files.createDirectories(FOLDER), Set.of("io"));
        link(users.resolve("io"), Files.createDirectories(FOLDER.resolve("io")), Set.of("dyber"));
        install("zernel", "pom", CHECKOUT.resolve("pom.xml"));
        for (String module : MODULES) {
            Path sources = CHECKOUT.resolve(module);
            install(module, "pom", sources.resolve("pom.xml"));
            install(module, "jar", sources.resolve("target/" + module + "-" + version() + ".jar"));
        }
        return FOLDER;
    }

    private static String version() {
        return System.getProperty("zernel.version");
    }

    private static void link(Path from, Path to, Set<String> but) throws IOException {
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.filter(file -> !but.contains(file.getFileName().toString())).toList()) {
                Path link = to.resolve(file.getFileName());
                if (!Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
                    Files.createSymbolicLink(link, file);
                }
            }
        }
    }

    private static void install(String artifact, String type, Path file) throws IOException {
        Path folder = Files.createDirectories(FOLDER.resolve("io/dyber/zernel").resolve(artifact).resolve(version()));
        Files.copy(file, folder.resolve(artifact + "-" + version() + "." + type), StandardCopyOption.REPLACE_EXISTING);
    }
}
