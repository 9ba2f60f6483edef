package io.dyber.zernel.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/// The copy of picocli in the distribution is picocli, in class files that the AOT cache accepts.
final class CacheableJarTest {
    @TempDir
    private static Path folder;

    private static Path original;
    private static Path copy;

    @BeforeAll
    static void copyPicocli() throws Exception {
        original = Path.of(CommandLine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        copy = folder.resolve(original.getFileName());
        CacheableJar.main(new String[] {folder.toString()});
    }

    @Test
    void allClassesOfTheCopyHaveANewerVersion() throws IOException {
        int classes = 0;
        try (JarFile jar = new JarFile(copy.toFile())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                if (entry.getName().endsWith(".class")) {
                    byte[] content = jar.getInputStream(entry).readAllBytes();
                    assertThat(ClassFile.of().parse(content).majorVersion()).as(entry.getName()).isGreaterThanOrEqualTo(52);
                    classes++;
                }
            }
        }
        assertThat(classes).isGreaterThan(200);
    }

    @Test
    void nothingElseIsLostAndTheManifestSaysWhatChanged() throws IOException {
        try (JarFile before = new JarFile(original.toFile());
                JarFile after = new JarFile(copy.toFile())) {
            assertThat(after.stream().map(JarEntry::getName)).containsExactlyElementsOf(before.stream().map(JarEntry::getName).toList());
            assertThat(before.getManifest().getMainAttributes().getValue("Changed-By-Zernel")).isNull();
            assertThat(after.getManifest().getMainAttributes().getValue("Changed-By-Zernel"))
                    .isEqualTo("class files have version 52, for the AOT cache");
            assertThat(after.getManifest().getMainAttributes().getValue("Implementation-Title")).isEqualTo("picocli");
        }
    }

    /// Loading verifies: a class whose frames are wrong does not link.
    @Test
    void theCopysClassesLink() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {copy.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
                JarFile jar = new JarFile(copy.toFile())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                if (name.startsWith("picocli/CommandLine") && name.endsWith(".class")) {
                    Class<?> type = Class.forName(name.replace('/', '.').substring(0, name.length() - 6), true, loader);
                    assertThat(type.getClassLoader()).isSameAs(loader);
                }
            }
        }
    }
}
