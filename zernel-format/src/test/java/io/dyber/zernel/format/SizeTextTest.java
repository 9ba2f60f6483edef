package io.dyber.zernel.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SizeTextTest {
    @ParameterizedTest
    @CsvSource({"500MB, 500000000", "1GB, 1000000000", "1GiB, 1000000000", "2TB, 2000000000000"})
    void aNumberAndAUnitAreASize(String text, long bytes) {
        assertThat(SizeText.parse(text)).hasValue(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "GB", "1 GB", "1kB", "1gb", "1.5GB", "-1GB", "1234567GB"})
    void anythingElseIsNone(String text) {
        assertThat(SizeText.parse(text)).isEmpty();
    }

    @Test
    void sizesHaveThreeDigitsAndADecimalUnit() {
        assertThat(SizeText.of(0)).isEqualTo("0 B");
        assertThat(SizeText.of(999)).isEqualTo("999 B");
        assertThat(SizeText.of(65_536)).isEqualTo("65.5 kB");
        assertThat(SizeText.of(275_300)).isEqualTo("275 kB");
        assertThat(SizeText.of(1_234_567_890)).isEqualTo("1.23 GB");
        assertThat(SizeText.of(12e15)).isEqualTo("12000 TB");
    }
}
