package io.dyber.zernel.serve.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class OtlpTargetTest {
    @Test
    void theSignalsPathIsAddedToTheBase() {
        URI base = OtlpTarget.parseBase("https://otlp.example.com/tenant/");
        OtlpTarget target = new OtlpTarget(base, Duration.ofSeconds(10), Map.of(), _ -> {});
        assertThat(target.endpoint("metrics")).isEqualTo("https://otlp.example.com/tenant/v1/metrics");
        assertThat(target.endpoint("logs")).isEqualTo("https://otlp.example.com/tenant/v1/logs");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "collector:4318 | not an http or https URL; give one like http://collector:4318",
        "collector | not an http or https URL; give one like http://collector:4318",
        "grpc://collector:4317 | not an http or https URL; give one like http://collector:4318",
        "http:///v1 | no host in it, whose name has letters, digits, - and .; give one like http://collector:4318",
        "http://my_collector:4318 | no host in it, whose name has letters, digits, - and .; give one like http://collector:4318",
        "http://a b | not a URL; give one like http://collector:4318",
        "http://c:4318?key=1 | a base URL has no ? and no #; give one like http://collector:4318",
        "http://c:4318/v1/metrics | the path of a signal is added to it; give http://c:4318",
        "http://c:4318/a/v1/logs/ | the path of a signal is added to it; give http://c:4318/a",
    })
    void whatIsNoBaseSaysWhatToGive(String text, String why) {
        assertThatThrownBy(() -> OtlpTarget.parseBase(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("pushing to '" + text + "': " + why);
    }

    @Test
    void aPasswordIsRefusedAndNotShown() {
        assertThatThrownBy(() -> OtlpTarget.parseBase("https://me:s3cr3t@otlp.example.com")).hasMessage(
                "pushing to 'https://otlp.example.com': it has a password, which all would see; "
                        + "give it in OTEL_EXPORTER_OTLP_HEADERS");
    }

    @Test
    void headersAreDecoded() {
        assertThat(OtlpTarget.parseHeaders("api-key=s3cr3t, Authorization=Basic%20YTpi+w==,empty="))
                .containsExactly(
                        Map.entry("api-key", "s3cr3t"),
                        Map.entry("Authorization", "Basic YTpi+w=="),
                        Map.entry("empty", ""));
        assertThat(OtlpTarget.parseHeaders("")).isEmpty();
    }

    @Test
    void headersThatCannotBeReadAreToldWithoutTheirSecret() {
        assertThatThrownBy(() -> OtlpTarget.parseHeaders("s3cr3t")).hasMessage(
                "reading 'OTEL_EXPORTER_OTLP_HEADERS': not NAME=VALUE with commas between; write a comma in a value as %2C");
        assertThatThrownBy(() -> OtlpTarget.parseHeaders("key=s3cr3t%0a")).hasMessage(
                "reading 'OTEL_EXPORTER_OTLP_HEADERS': a value has a character that is not printable ASCII; "
                        + "encode it as its reader wants it");
        assertThatThrownBy(() -> OtlpTarget.parseHeaders("key=s3cr3t%zz")).hasMessage(
                "reading 'OTEL_EXPORTER_OTLP_HEADERS': a % in a value is no code of a character; write it as %25");
    }
}
