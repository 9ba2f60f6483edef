package io.dyber.zernel.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;

final class FooterFileTest {
    @Test
    void valuesThatAreJsonStayJson() {
        Map<String, String> footer = Map.of("zernel.format", "1", "zernel.recording", "{\"host\":\"box\"}", "zernel.probes", "[]");
        assertThat(FooterFile.read(FooterFile.write(footer))).isEqualTo(footer);
    }

    @Test
    void otherValuesBecomeJson() {
        assertThat(FooterFile.read(FooterFile.write(Map.of("a", "no JSON")))).isEqualTo(Map.of("a", "\"no JSON\""));
    }

    @Test
    void aTornFileIsAnErrorAndOneOfSomethingElseIsEmpty() {
        byte[] whole = FooterFile.write(Map.of("zernel.format", "1"));
        assertThatThrownBy(() -> FooterFile.read(Arrays.copyOf(whole, whole.length / 2))).isInstanceOf(JacksonException.class);
        assertThat(FooterFile.read("[1]".getBytes(StandardCharsets.UTF_8))).isEmpty();
        assertThat(FooterFile.read(new byte[0])).isEmpty();
    }
}
