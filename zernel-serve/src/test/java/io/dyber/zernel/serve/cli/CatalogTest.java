package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What `jbang-catalog.json` names is there: JBang says nothing of a mistake until somebody runs that alias, and never of a
/// member that it does not know.
final class CatalogTest {
    private static final Path ROOT = Path.of("..");
    private static final String EXAMPLES = "zernel-analyze/examples/";
    private static final String POM = read("pom.xml");
    private static final JsonNode ALIASES = JsonMapper.shared().readTree(read("jbang-catalog.json")).path("aliases");

    private static Collection<String> aliases() {
        return ALIASES.propertyNames();
    }

    private static List<String> commands() {
        return aliases().stream().filter(alias -> ref(alias).contains(":")).toList();
    }

    @ParameterizedTest
    @MethodSource("aliases")
    void anAliasIsDescribedAndHasOnlyMembersOfJBang(String alias) {
        assertThat(ALIASES.path(alias).propertyNames())
                .contains("description", "script-ref")
                .isSubsetOf("description", "script-ref", "dependencies", "main", "java", "runtime-options");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void aCommandIsAModuleOfThisVersionWithItsMainClass(String alias) throws Exception {
        String version = found("<version>([^<]+)</version>").getFirst();
        List<String> artifacts = found("<module>([a-z-]+)</module>").stream()
                .map(module -> "io.dyber.zernel:" + module + ":" + version)
                .toList();
        assertThat(ref(alias)).isIn(artifacts);
        assertThat(texts(alias, "dependencies")).isSubsetOf(artifacts);

        String main = ALIASES.path(alias).path("main").stringValue();
        assertThat(ROOT.resolve(ref(alias).split(":")[1] + "/src/main/java/" + main.replace('.', '/') + ".java")).exists();
        assertThat(Class.forName(main).getMethod("main", String[].class)).isNotNull();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void aCommandHasTheJvmThatTestsHave(String alias) {
        assertThat(ALIASES.path(alias).path("java").stringValue())
                .isEqualTo(found("<maven.compiler.release>(.+)</maven.compiler.release>").getFirst() + "+");
        assertThat(texts(alias, "runtime-options")).endsWith(found("<jvm.flags>(.+)</jvm.flags>").getFirst().split(" "));
    }

    @Test
    void everyExampleHasAnAlias() throws IOException {
        try (Stream<Path> scripts = Files.list(ROOT.resolve(EXAMPLES))) {
            assertThat(aliases().stream().map(CatalogTest::ref).filter(ref -> !ref.contains(":")))
                    .containsExactlyInAnyOrderElementsOf(scripts.map(script -> EXAMPLES + script.getFileName()).toList());
        }
    }

    private static String ref(String alias) {
        return ALIASES.path(alias).path("script-ref").asString("");
    }

    private static List<String> texts(String alias, String member) {
        return ALIASES.path(alias).path(member).valueStream().map(JsonNode::stringValue).toList();
    }

    private static List<String> found(String pattern) {
        return Pattern.compile(pattern).matcher(POM).results().map((MatchResult result) -> result.group(1)).toList();
    }

    private static String read(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
