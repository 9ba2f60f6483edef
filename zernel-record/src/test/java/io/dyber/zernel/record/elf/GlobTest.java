package io.dyber.zernel.record.elf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GlobTest {
    @ParameterizedTest
    @CsvSource({
        "my_*, my_call, true", "my_*, my_, true", "my_*, xmy_, false", "*, anything, true", "a*b*c, aXbYc, true",
        "a*b*c, aXbY, false", "a?c, abc, true", "a?c, ac, false", "abc, abc, true", "abc, abcd, false",
        "*aab, aaab, true", "lib*.so*, libfoo.so.1, true", "**, x, true", "a.c, abc, false"
    })
    void matchesTheWholeName(String pattern, String text, boolean matches) {
        assertThat(Glob.matches(pattern, text)).isEqualTo(matches);
    }

    @Test
    void manyStarsDoNotTakeForever() {
        assertThat(Glob.matches("*a".repeat(50) + "b", "a".repeat(5000))).isFalse();
    }
}
