package io.dyber.zernel.serve.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// A local Maven repository as if this build had been installed: links to what the user's holds, and our own jars. What
/// JBang and notebooks resolve here needs no network, and leaves nothing in the user's.
final class MavenRepository {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final List<String> MODULES = List.of("zernel-record", "zernel-analyze", "zernel-serve");

    private MavenRepository() {}

    /// @param folder empty, becomes the repository
    static void fill(Path folder) throws IOException {
        Path users = Path.of(System.getProperty("maven.repository"));
        link(users, folder, Set.of("io"));
        link(users.resolve("io"), Files.createDirectories(folder.resolve("io")), Set.of("dyber"));
        install(folder, "zernel", "pom", CHECKOUT.resolve("pom.xml"));
        for (String module : MODULES) {
            Path sources = CHECKOUT.resolve(module);
            install(folder, module, "pom", sources.resolve("pom.xml"));
            install(folder, module, "jar", sources.resolve("target/" + module + "-" + version() + ".jar"));
        }
    }

    private static String version() {
        return System.getProperty("zernel.version");
    }

    private static void link(Path from, Path to, Set<String> but) throws IOException {
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.filter(file -> !but.contains(file.getFileName().toString())).toList()) {
                Files.createSymbolicLink(to.resolve(file.getFileName()), file);
            }
        }
    }

    private static void install(Path repository, String artifact, String type, Path file) throws IOException {
        Path folder = Files.createDirectories(repository.resolve("io/dyber/zernel").resolve(artifact).resolve(version()));
        Files.copy(file, folder.resolve(artifact + "-" + version() + "." + type));
    }
}
