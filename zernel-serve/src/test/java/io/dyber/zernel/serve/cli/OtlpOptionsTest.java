package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class OtlpOptionsTest {
    private final StringWriter err = new StringWriter();

    @Test
    void aBadUrlIsOneLineAndAMistakeOfUse() {
        assertThat(run("serve", "run.parquet", "--otlp", "collector:4318")).isEqualTo(2);
        assertThat(err.toString()).isEqualTo("""
                zernel serve: pushing to 'collector:4318': not an http or https URL; give one like http://collector:4318
                hint: 'zernel serve --help' lists the options
                """);
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "0s", "100ms", "2h"})
    void anIntervalThatIsNoneIsAMistakeOfUse(String interval) {
        assertThat(run("serve", "run.parquet", "--otlp", "http://c:4318", "--otlp-interval", interval)).isEqualTo(2);
        assertThat(err.toString()).contains("'" + interval + "' is not a time from 1s to 1h (e.g. 10s, 1m)");
    }

    private int run(String... arguments) {
        return Zernel.run(new PrintWriter(new StringWriter()), new PrintWriter(err, true), arguments);
    }
}
