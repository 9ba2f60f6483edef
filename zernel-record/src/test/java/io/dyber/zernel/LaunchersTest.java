package io.dyber.zernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How the launch scripts find a JDK. The folders hold no JVM, only what the search reads; their version 99 keeps the
/// JDKs of this machine out of the tests.
final class LaunchersTest {
    private static final Path JAVA_SH = Path.of("../zernel-serve/dist/src/main/dist/lib/java.sh").toAbsolutePath().normalize();

    @TempDir
    private Path folder;

    private record Answer(int status, String output) {}

    @Test
    void javaHomeIsTakenWhenItIsNewEnough() throws Exception {
        String jdk = jdk("jdk", "99.0.1");

        assertThat(find(Map.of("JAVA_HOME", jdk))).isEqualTo(new Answer(0, jdk + " 99.0.1\n"));
    }

    @Test
    void earlyAccessVersionsCount() throws Exception {
        String jdk = jdk("jdk", "100-ea");

        assertThat(find(Map.of("JAVA_HOME", jdk))).isEqualTo(new Answer(0, jdk + " 100-ea\n"));
    }

    @Test
    void anOldJavaHomeIsPassedOverForTheJdkOfTheUserWhoCalledSudo() throws Exception {
        String old = jdk("old", "17.0.15");
        String jdk = jdk("home/.sdkman/candidates/java/99.0.1-tem", "99.0.1");
        Path tools = Files.createDirectories(folder.resolve("tools"));
        Path getent = Files.writeString(
                tools.resolve("getent"), "#!/bin/sh\necho \"$2:x:1000:1000::" + folder.resolve("home") + ":/bin/sh\"\n");
        assertThat(getent.toFile().setExecutable(true)).isTrue();

        Answer answer = find(Map.of(
                "JAVA_HOME", old, "SUDO_USER", "ada", "HOME", "/root", "PATH", tools + ":/usr/bin:/bin"));

        assertThat(answer).isEqualTo(new Answer(0, jdk + " 99.0.1\n"));
    }

    @Test
    void aChosenJdkThatIsTooOldIsAnErrorEvenWhereAnotherOneIsNewEnough() throws Exception {
        String old = jdk("old", "17.0.15");

        assertThat(find(Map.of("ZERNEL_JAVA_HOME", old, "JAVA_HOME", jdk("jdk", "99"))))
                .isEqualTo(new Answer(1, """
                        zernel: finding a JDK: ZERNEL_JAVA_HOME '%s' is not a JDK 90 or newer
                        hint: unset it, or point it at one
                        """.formatted(old)));
    }

    @Test
    void noJdkIsAnErrorThatSaysHowToGetOne() throws Exception {
        Answer answer = find(Map.of("JAVA_HOME", folder.toString(), "HOME", folder.toString()));

        assertThat(answer.status()).isEqualTo(1);
        assertThat(answer.output()).startsWith("zernel: finding a JDK: ").contains("hint: apt-get install openjdk-25-jdk");
    }

    private String jdk(String name, String version) throws IOException {
        Path home = folder.resolve(name);
        Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
        Files.writeString(java, "");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        return home.toString();
    }

    private static Answer find(Map<String, String> variables) throws Exception {
        ProcessBuilder shell =
                new ProcessBuilder("sh", "-euc", ". \"$0\"; find_java; echo \"$java_home $java_version\"", JAVA_SH.toString())
                        .redirectErrorStream(true);
        Map<String, String> environment = new LinkedHashMap<>(Map.of("PATH", "/usr/bin:/bin", "ZERNEL_JAVA_MIN", "90"));
        environment.putAll(variables);
        shell.environment().clear();
        shell.environment().putAll(environment);
        Process process = shell.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Answer(process.waitFor(), output);
    }
}
