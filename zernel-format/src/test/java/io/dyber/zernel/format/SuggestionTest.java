package io.dyber.zernel.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SuggestionTest {
    private static final List<String> KNOWN = List.of("steps", "phases", "data_bound");

    @ParameterizedTest
    @CsvSource({
        "'', '', 0", "abc, abc, 0", "abc, ab, 1", "ab, abc, 1", "abc, abd, 1", "abc, acb, 1", "abcd, badc, 2",
        "'', abc, 3", "kitten, sitting, 3"
    })
    void distanceCountsWhatIsPutInTakenOutReplacedOrSwapped(String a, String b, int distance) {
        assertThat(Suggestion.distance(a, b)).isEqualTo(distance);
        assertThat(Suggestion.distance(b, a)).isEqualTo(distance);
    }

    @Test
    void theNearestNameIsSuggested() {
        assertThat(Suggestion.of("setps", KNOWN)).contains("steps");
        assertThat(Suggestion.of("PHASE", KNOWN)).contains("phases");
        assertThat(Suggestion.of("data", KNOWN)).contains("data_bound");
        assertThat(Suggestion.of("nothing like it", KNOWN)).isEmpty();
    }

    @Test
    void withoutANearNameAHintListsAllOfThem() {
        assertThat(Suggestion.hint("stepss", KNOWN)).isEqualTo("did you mean 'steps'?");
        assertThat(Suggestion.hint("gpu", KNOWN)).isEqualTo("there are steps, phases, data_bound");
    }
}
