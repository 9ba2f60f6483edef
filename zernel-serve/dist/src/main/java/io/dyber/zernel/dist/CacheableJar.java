package io.dyber.zernel.dist;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ConstantPoolSharingOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import picocli.CommandLine;

/// Copies picocli with class files that the JVM's AOT cache accepts: it leaves out those for Java 5 and older, as
/// picocli's are, and every command would load them from the jar and verify them again.
public final class CacheableJar {
    /// What says in the manifest that the jar is not the one of Maven Central.
    static final String CHANGE = "Changed-By-Zernel";

    /// Of class files that need frames for the verifier, the oldest that every Java of ours reads.
    static final int VERSION = ClassFile.JAVA_8_VERSION;

    private CacheableJar() {}

    /// Writes the picocli of the class path into a folder.
    public static void main(String[] arguments) throws IOException {
        Path jar = Path.of(CommandLine.class.getProtectionDomain().getCodeSource().getLocation().getPath());
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        copy(jar, folder.resolve(jar.getFileName()));
    }

    static void copy(Path from, Path to) throws IOException {
        try (JarFile jar = new JarFile(from.toFile());
                JarOutputStream out = new JarOutputStream(Files.newOutputStream(to))) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                byte[] content = jar.getInputStream(entry).readAllBytes();
                JarEntry copy = new JarEntry(entry.getName());
                copy.setLastModifiedTime(entry.getLastModifiedTime());
                out.putNextEntry(copy);
                if (entry.getName().equals(JarFile.MANIFEST_NAME)) {
                    writeManifest(jar.getManifest(), out);
                } else if (entry.getName().endsWith(".class")) {
                    out.write(modern(content));
                } else {
                    out.write(content);
                }
            }
        }
    }

    private static void writeManifest(Manifest manifest, OutputStream out) throws IOException {
        manifest.getMainAttributes().putValue(CHANGE, "class files have version " + VERSION + ", for the AOT cache");
        manifest.write(out);
    }

    private static byte[] modern(byte[] content) {
        // With constants of its own, since code is otherwise copied as it is, without frames.
        ClassFile classFile = ClassFile.of(ConstantPoolSharingOption.NEW_POOL);
        ClassModel model = classFile.parse(content);
        if (model.majorVersion() >= VERSION) {
            return content;
        }
        byte[] modern = classFile.transformClass(model, (builder, element) -> {
            if (element instanceof ClassFileVersion) {
                builder.withVersion(VERSION, 0);
            } else {
                builder.with(element);
            }
        });
        List<VerifyError> errors = classFile.verify(modern);
        if (!errors.isEmpty()) {
            throw errors.getFirst();
        }
        return modern;
    }
}
