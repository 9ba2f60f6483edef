package io.dyber.zernel.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The distribution holds what this build put there, and nothing of an earlier one.
final class DistributionIT {
    private static final Path DISTRIBUTION = Path.of("target/zernel");

    @Test
    void everyJarIsOneThatTheCommandsLoad() throws IOException {
        List<Path> commands = files("lib", "glob:**/zernel-*.jar");
        assertThat(commands).hasSize(4);
        Set<String> loaded = new TreeSet<>();
        for (Path command : commands) {
            try (JarFile jar = new JarFile(command.toFile())) {
                loaded.add(command.getFileName().toString());
                loaded.addAll(List.of(jar.getManifest().getMainAttributes().getValue("Class-Path").split(" ")));
            }
        }
        assertThat(files("lib", "glob:**.jar")).extracting(jar -> jar.getFileName().toString()).containsExactlyInAnyOrderElementsOf(loaded);
    }

    @Test
    void everyManualPageIsOfACommand() throws IOException {
        assertThat(files("share/man/man1", "glob:**.gz")).extracting(page -> page.getFileName().toString().replace(".1.gz", ""))
                .containsExactlyInAnyOrderElementsOf(Programs.documented().stream().map(ManPage::name).toList());
    }

    private static List<Path> files(String folder, String glob) throws IOException {
        try (Stream<Path> files = Files.list(DISTRIBUTION.resolve(folder))) {
            return files.filter(DISTRIBUTION.getFileSystem().getPathMatcher(glob)::matches).toList();
        }
    }
}
