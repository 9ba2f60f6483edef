package io.dyber.zernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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

    /// The JVM decodes its arguments by the locale that it is started in, whatever its options say.
    @Test
    void wordsThatAreNotAsciiArriveInTheCLocaleToo() throws Exception {
        Path program = Files.writeString(folder.resolve("Show.java"), """
                void main(String[] words) {
                    IO.println(words[0].equals("\\u00fc") + " " + java.nio.file.Path.of(words[0]).getNameCount()
                            + " [" + System.getProperty("zernel.lc_all") + "]");
                }
                """);
        String run = "zernel_home=/nonexistent; . \"$0\"; run_java none \"$1\" short \u00fc";
        String jdk = System.getProperty("java.home");

        assertThat(shell(run, Map.of("LC_ALL", "C", "ZERNEL_JAVA_HOME", jdk), program.toString()))
                .isEqualTo(new Answer(0, "true 1 [C]\n"));
        assertThat(shell(run, Map.of("LANG", "xx_YY.UTF-8", "ZERNEL_JAVA_HOME", jdk), program.toString()))
                .isEqualTo(new Answer(0, "true 1 []\n"));
        assertThat(shell(run, Map.of("LC_ALL", "C.UTF-8", "ZERNEL_JAVA_HOME", jdk), program.toString()))
                .isEqualTo(new Answer(0, "true 1 [null]\n"));
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
        Map<String, String> old = new LinkedHashMap<>(Map.of("ZERNEL_JAVA_MIN", "90"));
        old.putAll(variables);
        return shell(". \"$0\"; find_java; echo \"$java_home $java_version\"", old);
    }

    private static Answer shell(String script, Map<String, String> variables, String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", "-euc", script, JAVA_SH.toString()));
        command.addAll(List.of(words));
        ProcessBuilder shell = new ProcessBuilder(command).redirectErrorStream(true);
        Map<String, String> environment = new LinkedHashMap<>(Map.of("PATH", "/usr/bin:/bin"));
        environment.putAll(variables);
        shell.environment().clear();
        shell.environment().putAll(environment);
        Process process = shell.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Answer(process.waitFor(), output);
    }
}
