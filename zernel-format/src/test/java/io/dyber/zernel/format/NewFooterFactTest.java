package io.dyber.zernel.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The recipe of CONTRIBUTING.md for a fact in the footer, followed with one that does not ship: what is said when a step is
/// left out.
class NewFooterFactTest {
    private static final String KEY = "zernel.weather";
    private static final String ROW = "| `zernel.weather` | `{\"wind\",\"rain\":[{\"fell_mm\"}]}` |\n";
    private static final String TEST = "isEqualTo(\"{\\\"wind\\\":1,\\\"rain\\\":[{\\\"fell_mm\\\":2}]}\")";

    /// As in `Footer`.
    static final class Facts {
        record Weather(long wind, java.util.List<Rain> rain) {}

        record Rain(long fellMm) {}
    }

    private static FooterRules rules(String page, String tests) {
        return new FooterRules(Map.of(KEY, Facts.Weather.class), page, tests);
    }

    @Test
    void nothingIsLeftOutOfTheFactsThatShip() throws IOException {
        Set<String> keys = FooterRules.keys(Footer.class);
        assertThat(keys).contains(Footer.RECORDING, Footer.SIMULATION);
        assertThat(FooterRules.shipped().breaches(keys, Footer.class)).isEmpty();
    }

    @Test
    void theWholeRecipeIsEnough() {
        assertThat(rules(ROW, TEST).breaches(Set.of(KEY), Facts.class)).isEmpty();
    }

    @Test
    void aKeyWithoutItsRowIsNamed() {
        assertThat(rules("", TEST).breaches(Set.of(KEY), Facts.class))
                .containsExactly("bpf/README.md has no row of the key 'zernel.weather'");
    }

    @Test
    void aMemberThatTheRowDoesNotHaveIsNamed() {
        assertThat(rules(ROW.replace("\"fell_mm\"", ""), TEST).breaches(Set.of(KEY), Facts.class))
                .containsExactly("the row of 'zernel.weather' in bpf/README.md does not name 'fell_mm'");
    }

    @Test
    void aMemberWithoutATestIsNamed() {
        assertThat(rules(ROW, TEST.replace("wind", "storm")).breaches(Set.of(KEY), Facts.class))
                .containsExactly("FooterTest has no JSON with 'wind' of 'zernel.weather'");
    }

    @Test
    void aRecordThatNoKeyHasIsNamed() {
        assertThat(new FooterRules(Map.of(KEY, Facts.Rain.class), ROW, TEST).breaches(Set.of(KEY), Facts.class))
                .containsExactly("no key has the record Weather");
    }

    @Test
    void aKeyWithoutARecordIsNamed() {
        assertThat(new FooterRules(Map.of(), ROW, TEST).breaches(Set.of(KEY), Object.class))
                .containsExactly("FooterRules has no record of the key 'zernel.weather'");
    }
}
